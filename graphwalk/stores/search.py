"""Search for nodes by text: how well a value matches, and an index of a graph in memory."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from graphwalk.graphs.graph import KEY, MISSING, NodeTable, PropertyGraph
from graphwalk.graphs.values import Row, shown

MATCHES = ("equal", "equal except case and accents", "prefix", "all words", "part", "typing errors")
"""How a value matches a text, best first."""
TYPING_ERRORS = MATCHES.index("typing errors")
MOST_ROWS = 10
MOST_SCANNED = 100_000
"""Nodes of a database whose texts are read if no index finds any."""
LONGEST_TEXT = 300  # characters
_MOST_RANKED, _MOST_ALIKE = 10_000, 5
_LETTERS = {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
"""Letters that Unicode does not decompose."""

Rank = tuple[int, int, int, str, bool, str]
"""Sort key of a match: position in MATCHES, typing errors, length, text, whether it is the key, property.

A part at the beginning of a text has 0 errors, another part 1.
"""


@dataclass(frozen=True)
class SearchResult:
    """Nodes that match a text, best first: `key`, `labels`, `property`, `value`, `relationships`, `match`.

    `scanned`: texts were read one by one; `stopped`: the time ended first.
    `indexes`: names of those that alone were searched, although they do not cover all nodes.
    """

    rows: list[Row]
    scanned: bool = False
    stopped: bool = False
    indexes: Sequence[str] = ()


def folded(text: str) -> str:
    """Return the text without differences of case, accents and spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.casefold())
        for letter in set(text):
            if letter in _LETTERS or unicodedata.combining(letter):
                text = text.replace(letter, _LETTERS.get(letter, ""))
    return " ".join(text.lower().split())


def words_of(text: str) -> list[str]:
    """Return the words of a text, each once."""
    return list(dict.fromkeys(re.findall(r"\w+", text)))


def allowed_errors(word: str) -> int:
    """Return how many letters may be wrong in a word: the fuzziness AUTO of Elasticsearch."""
    if len(word) < 3:
        return 0
    if len(word) < 6:
        return 1
    return 2


class SearchText:
    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = folded(text)
        self.words = words_of(self.folded)
        self.joined = self.folded.replace(" ", "")
        self._prefix = re.compile(re.escape(self.folded) + r"(?!\w)")
        """The text as whole words."""

    def rank(self, name: str, value: object) -> Rank | None:
        """Return how well a property matches, of a list its best text; None if it does not."""
        ranks: list[Rank] = []
        for text in value if isinstance(value, tuple | list) else (value,):
            if not isinstance(text, str):
                continue
            rank = self.rank_text(name, text, folded(text))
            if rank is not None:
                ranks.append(rank)
        return min(ranks, default=None)

    def rank_text(self, name: str, text: str, plain: str) -> Rank | None:
        """Return how well a text matches; `plain`: the folded text."""
        match = self._match(text, plain)
        if match is None:
            return None
        way, errors = match
        return way, errors, len(text), plain, name == KEY, name

    def _match(self, text: str, plain: str) -> tuple[int, int] | None:
        """Return the position in MATCHES and the number of typing errors, in the whole text or in each word."""
        words = words_of(plain)
        all_words = bool(self.words) and set(self.words).issubset(words)
        is_prefix = self._prefix.match(plain) is not None
        ways = (text == self.text, plain == self.folded, is_prefix, all_words, self.folded in plain)
        if True in ways:
            way = ways.index(True)
            return way, int(MATCHES[way] == "part" and not plain.startswith(self.folded))
        most = allowed_errors(self.joined)
        whole = OSA.distance(self.joined, plain.replace(" ", ""), score_cutoff=most)
        if whole <= most:
            return TYPING_ERRORS, whole
        if not self.words:
            return None
        errors = 0
        for word in self.words:
            closest = process.extractOne(word, words, scorer=OSA.distance, score_cutoff=allowed_errors(word))
            if closest is None:
                return None
            _, distance, _ = closest
            errors += int(distance)
        return TYPING_ERRORS, errors


def best_rows(ranked: Sequence[tuple[Rank, Row]]) -> list[Row]:
    """Return one row per node with the column `match`, the best first; typing errors only if nothing is better."""
    # The first number of a rank is the position in MATCHES.
    without_errors = [(rank, row) for rank, row in ranked if rank[0] < TYPING_ERRORS]
    best_first = sorted(without_errors or ranked, key=lambda pair: (pair[0], pair[1]["key"]))
    rows: dict[str, Row] = {}
    for rank, row in best_first:
        key = row["key"]
        if key not in rows:  # its best row, for it comes first
            rows[key] = {**row, "match": MATCHES[rank[0]]}
    return list(rows.values())[:MOST_ROWS]


class SearchIndex:
    """The different texts of the nodes of a graph; many threads may search it."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._keys = graph.keys
        self._entries: defaultdict[str, list[_Entry]] = defaultdict(list)
        """By folded text."""
        for entry in _texts_of(graph):
            self._entries[folded(entry.text)].append(entry)
        self._spelled = {plain.replace(" ", ""): plain for plain in self._entries}
        """Words, and texts without spaces → what texts contain: "portofcall" → "port of call", "port" → "port"."""
        for plain in self._entries:
            for word in words_of(plain):
                self._spelled[word] = word
        self._spellings = list(self._spelled)
        self._degrees = np.zeros(len(graph.keys), dtype=np.int64)
        for table in graph.relationship_tables:
            for ends in (table.sources, table.targets[table.sources != table.targets]):  # a loop counts once
                self._degrees += np.bincount(ends, minlength=len(graph.keys))

    def search(self, text: str, label: str | None) -> list[Row]:
        """Return the nodes that match, of a label ("": without labels) if it is given."""
        sought = SearchText(text)
        longest = max(sought.words, key=len, default=sought.folded)
        rows = self._rows(sought, [longest] if longest else [], label)
        if rows and rows[0]["match"] != MATCHES[TYPING_ERRORS]:
            return rows
        alike = []
        for part in (sought.joined, longest):
            close = process.extract(
                part, self._spellings, scorer=OSA.distance, score_cutoff=allowed_errors(part), limit=_MOST_ALIKE
            )
            alike += [self._spelled[spelling] for spelling, _, _ in close]
        return self._rows(sought, alike, label)

    def _rows(self, sought: SearchText, parts: Sequence[str], label: str | None) -> list[Row]:
        """Rank the texts that contain one of the parts: of many, those with the whole text and the shortest."""
        texts = (plain for plain in self._entries if any(part in plain for part in parts))
        likely = nsmallest(_MOST_RANKED, texts, key=lambda plain: (sought.folded not in plain, len(plain)))
        matches: list[tuple[Rank, int, _Entry]] = []
        for number, plain in enumerate(likely):
            for entry in self._entries[plain]:
                rank = sought.rank_text(entry.name, entry.text, plain)
                if rank is not None and entry.has_label(label):
                    matches.append((rank, number, entry))
        ranked: list[tuple[Rank, Row]] = []
        # Five times as many texts as rows, since a node may have several of them.
        for rank, _, entry in nsmallest(5 * MOST_ROWS, matches, key=itemgetter(0, 1)):
            for row in self._rows_of(entry):
                ranked.append((rank, row))
        return best_rows(ranked)

    def _rows_of(self, entry: "_Entry") -> Iterator[Row]:
        """Yield a row for each of the first nodes that have a text."""
        table, position = entry.table, entry.position
        value: Any
        if entry.name == KEY:
            value = entry.text
            numbers = table.numbers[position : position + 1]
        else:
            column = table.columns[entry.name]
            value = shown(column.pool[position])
            numbers = table.numbers[column.codes == position]
        for key, number in nsmallest(MOST_ROWS, ((self._keys[number], number) for number in numbers)):
            yield {
                "key": key,
                "labels": list(table.labels),
                "property": entry.name,
                "value": value,
                "relationships": int(self._degrees[number]),
            }


class _Entry(NamedTuple):
    """A text: a key at a position of the table, or a value at one of its pool."""

    table: NodeTable
    name: str
    position: int
    text: str

    def has_label(self, label: str | None) -> bool:
        """Tell whether its nodes have a label; "": none at all. None is every label."""
        if label is None:
            return True
        if label == "":
            return not self.table.labels
        return label in self.table.labels


def _texts_of(graph: PropertyGraph) -> Iterator[_Entry]:
    for table in graph.node_tables:
        for position, number in enumerate(table.numbers.tolist()):
            yield _Entry(table, KEY, position, graph.keys[number])
        for name, column in table.columns.items():
            for code in np.unique(column.codes[column.codes != MISSING]).tolist():
                value = column.pool[code]
                for text in value if isinstance(value, tuple) else (value,):
                    if isinstance(text, str):
                        yield _Entry(table, name, code, text)
