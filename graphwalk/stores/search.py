"""Search for nodes by text: how well a value matches, and an index of a graph in memory."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import accumulate

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from graphwalk.types.graph import KEY, MISSING, NodeTable, PropertyGraph
from graphwalk.types.values import Row, shown

MATCHES = ("equal", "equal except case and accents", "prefix", "all words", "part", "typing errors")
"""How a value matches a text, best first."""
TYPING_ERRORS = MATCHES.index("typing errors")
MOST_ROWS = 10
MOST_SCANNED = 100_000
"""Nodes of a database whose texts are read if no index finds any."""
LONGEST_TEXT = 300  # characters
_MOST_HITS, _MOST_ALIKE = 200, 5
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
    return 0 if len(word) < 3 else 1 if len(word) < 6 else 2


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
        texts = value if isinstance(value, tuple | list) else (value,)
        return min(
            filter(None, (self.rank_text(name, one, folded(one)) for one in texts if isinstance(one, str))),
            default=None,
        )

    def rank_text(self, name: str, text: str, plain: str) -> Rank | None:
        """Return how well a text matches; `plain`: the folded text."""
        match = self._match(text, plain)
        return match and (*match, len(text), plain, name == KEY, name)

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
        close = [process.extractOne(w, words, scorer=OSA.distance, score_cutoff=allowed_errors(w)) for w in self.words]
        errors = [int(one[1]) for one in close if one is not None]
        return (TYPING_ERRORS, sum(errors)) if errors and len(errors) == len(close) else None


def best_rows(ranked: Sequence[tuple[Rank, Row]]) -> list[Row]:
    """Return one row per node with the column `match`, the best first; typing errors only if nothing is better."""
    rows: dict[str, Row] = {}
    better = [pair for pair in ranked if pair[0][0] < TYPING_ERRORS]
    for rank, row in sorted(better or ranked, key=lambda pair: (pair[0], pair[1]["key"])):
        rows.setdefault(row["key"], {**row, "match": MATCHES[rank[0]]})
    return list(rows.values())[:MOST_ROWS]


class SearchIndex:
    """The different texts of the nodes of a graph, as one long text; many threads may search it."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._keys = graph.keys
        self._entries = list(_texts_of(graph))
        plain = [folded(entry[3]) for entry in self._entries]
        self._starts = list(accumulate((len(text) + 1 for text in plain), initial=1))
        self._whole = "\n" + "\n".join(plain) + "\n"
        words = words_of(self._whole)
        self._spelled = {text.replace(" ", ""): text for text in plain} | dict(zip(words, words, strict=True))
        """Words, and texts without spaces → what to look for in the long text."""
        self._spellings = sorted(self._spelled, key=len)
        self._lengths = list(map(len, self._spellings))
        self._degrees = np.zeros(len(graph.keys), dtype=np.int64)
        for table in graph.relationship_tables:
            for ends in (table.sources, table.targets[table.sources != table.targets]):  # a loop counts once
                self._degrees += np.bincount(ends, minlength=len(graph.keys))

    def search(self, text: str, label: str | None) -> list[Row]:
        """Return the nodes that match, of a label ("": without labels) if it is given."""
        sought = SearchText(text)
        longest = max(sought.words, key=len, default="")
        entries = self._with(longest, label)
        for end in ("\n", " ", ""):  # whole texts and words first: of the rest there may be too many
            entries |= self._with(f"\n{sought.folded}{end}", label, 1) | self._with(sought.folded + end, label)
        rows = self._rows(sought, entries)
        if rows and rows[0]["match"] != MATCHES[TYPING_ERRORS]:
            return rows
        alike = {spelling for part in (sought.joined, longest) for spelling in self._alike(part)}
        return self._rows(sought, {entry for one in alike for entry in self._with(self._spelled[one], label)})

    def _rows(self, sought: SearchText, entries: Iterable[int]) -> list[Row]:
        places = []
        for entry in entries:
            _, name, _, text = self._entries[entry]
            if rank := sought.rank_text(name, text, self._whole[self._starts[entry] : self._starts[entry + 1] - 1]):
                places.append((rank, entry))
        ranked: list[tuple[Rank, Row]] = []
        for rank, entry in nsmallest(5 * MOST_ROWS, places):  # a node may have several of them
            table, name, position, value = self._entries[entry]
            numbers = table.numbers[position : position + 1]
            if name != KEY:
                column = table.columns[name]
                value, numbers = shown(column.pool[position]), table.numbers[column.codes == position]
            for key, number in nsmallest(MOST_ROWS, ((self._keys[number], number) for number in numbers)):
                row = {"key": key, "labels": list(table.labels), "property": name, "value": value}
                ranked.append((rank, {**row, "relationships": int(self._degrees[number])}))
        return best_rows(ranked)

    def _with(self, text: str, label: str | None, offset: int = 0) -> set[int]:
        """Return entries that contain a text, of which `offset` characters are before the entry."""
        entries: set[int] = set()
        place = self._whole.find(text) if text else -1
        while 0 <= place < len(self._whole) - 1 and len(entries) < _MOST_HITS:
            entry = bisect_right(self._starts, place + offset) - 1
            labels = self._entries[entry][0].labels
            if label is None or (label in labels if label else not labels):
                entries.add(entry)
            place = self._whole.find(text, self._starts[entry + 1] - offset)
        return entries

    def _alike(self, text: str) -> list[str]:
        """Return words and texts with few typing errors, the fewest first."""
        most = allowed_errors(text)
        first, last = bisect_left(self._lengths, len(text) - most), bisect_right(self._lengths, len(text) + most)
        close = self._spellings[first:last]
        alike = process.extract(text, close, scorer=OSA.distance, score_cutoff=most, limit=_MOST_ALIKE)
        return [one for one, _, _ in alike]


def _texts_of(graph: PropertyGraph) -> Iterator[tuple[NodeTable, str, int, str]]:
    """Yield table, property, the position of a key in the table or of a value in its pool, and the text."""
    for table in graph.node_tables:
        for position, number in enumerate(table.numbers.tolist()):
            yield table, KEY, position, graph.keys[number]
        for name, column in table.columns.items():
            for code in np.unique(column.codes[column.codes != MISSING]).tolist():
                value = column.pool[code]
                texts = value if isinstance(value, tuple) else (value,)
                yield from ((table, name, code, text) for text in texts if isinstance(text, str))
