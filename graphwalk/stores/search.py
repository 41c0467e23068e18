"""Search for nodes by text: how well a value matches, and an index of a graph in memory."""

import re
import threading
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from graphwalk.types.graph import KEY, MISSING, NodeTable, PropertyGraph
from graphwalk.types.values import Row, Value, shown

MATCHES = ("equal", "equal except case and accents", "prefix", "all words", "part", "typing errors")
"""How a value matches a text, best first."""
ALL_WORDS = MATCHES.index("all words")
MOST_ROWS = 10
LONGEST_TEXT = 300
"""Characters of a text that is searched for."""
_MOST_HITS = 500
"""Places of one table in which a text is looked for as a prefix, and as a part."""
_WORDS = re.compile(r"\w+")
_WORDS_AND_ENDS = re.compile(r"\w+|\n")
_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
"""Letters that Unicode does not decompose."""

Rank = tuple[int, int, int, str, bool, str]
"""Sort key of a match: position in MATCHES, typing errors, length, text, whether it is the key, property."""


@dataclass(frozen=True)
class SearchResult:
    """Nodes that match a text, best first: `key`, `labels`, `property`, `value`, `relationships`, `match`.

    `scanned`: no index covered all nodes, so that their texts were read; `statement` creates one. `stopped`: the time
    ended first. `indexes`: names of the indexes in which alone was searched, if they do not cover all nodes.
    """

    rows: list[Row]
    scanned: bool = False
    stopped: bool = False
    statement: str = ""
    indexes: Sequence[str] = ()


def folded(text: str) -> str:
    """Return the text without differences of case, accents and spaces."""
    if not text.isascii():
        letters = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(letter for letter in letters if not unicodedata.combining(letter)).translate(_LETTERS)
    return " ".join(text.lower().split())


def words_of(text: str) -> list[str]:
    """Return the words of a text, each once."""
    return list(dict.fromkeys(_WORDS.findall(text)))


def allowed_errors(word: str) -> int:
    """Return how many letters may be wrong in a word: the fuzziness AUTO of Elasticsearch."""
    return 0 if len(word) < 3 else 1 if len(word) < 6 else 2


@dataclass(frozen=True)
class SearchText:
    """A text that is searched for."""

    text: str

    @cached_property
    def folded(self) -> str:
        return folded(self.text)

    @cached_property
    def words(self) -> list[str]:
        return words_of(self.folded)

    @cached_property
    def joined(self) -> str:
        return self.folded.replace(" ", "")

    def rank(self, name: str, value: object) -> Rank | None:
        """Return how well a property matches, of a list its best text; None if it does not."""
        texts = value if isinstance(value, tuple | list) else (value,)
        ranks = (self._rank_of(name, text) for text in texts if isinstance(text, str))
        return min(filter(None, ranks), default=None)

    def _rank_of(self, name: str, text: str) -> Rank | None:
        plain = folded(text)
        match, errors = self._match(text, plain)
        return None if match is None else (match, errors, len(plain), plain, name == KEY, name)

    def _match(self, text: str, plain: str) -> tuple[int | None, int]:
        """Return the position in MATCHES, and the number of typing errors."""
        if plain == self.folded:
            return int(text != self.text), 0
        if plain.startswith(self.folded):
            return 2, 0
        words = words_of(plain)
        if self.words and set(self.words).issubset(words):
            return ALL_WORDS, 0
        if self.folded in plain:
            return 4, 0
        errors = self._errors(plain.replace(" ", ""), words)
        return (None, 0) if errors is None else (5, errors)

    def _errors(self, joined: str, words: Sequence[str]) -> int | None:
        """Return the wrong letters, of the whole text or in each of its words; None if they are too many."""
        most = allowed_errors(self.joined)
        whole = OSA.distance(self.joined, joined, score_cutoff=most)
        if whole <= most:
            return whole
        total = 0
        for word in self.words:
            closest = process.extractOne(word, words, scorer=OSA.distance, score_cutoff=allowed_errors(word))
            if closest is None:
                return None
            total += int(closest[1])
        return total if self.words else None


def best_rows(ranked: Iterable[tuple[Rank, Row]], most: int) -> list[Row]:
    """Return one row per node, the best first, with the column `match`."""
    rows: dict[str, Row] = {}
    for rank, row in sorted(ranked, key=lambda pair: (pair[0], pair[1]["key"])):
        rows.setdefault(row["key"], {**row, "match": MATCHES[rank[0]]})
    return list(rows.values())[:most]


class SearchIndex:
    """The texts of all nodes of a graph; built by the first search, and used by many threads."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._graph = graph
        self._building = threading.Lock()

    def search(self, text: str, label: str | None, property_name: str | None, most: int) -> list[Row]:
        """Return up to `most` nodes, of a label ("": without labels) and by one property if these are given."""
        sought = SearchText(text)
        with self._building:
            tables, degrees = self._tables, self._degrees
        tables = [t for t in tables if label is None or (label in t.labels if label else not t.labels)]
        places = [(*place, table) for table in tables for place in table.containing(sought, property_name)]
        if not places:
            places = [(*place, table) for table in tables for place in table.close_to(sought, property_name)]
        places.sort(key=lambda place: place[0])
        nodes: list[tuple[Rank, Row]] = []
        for rank, entry, table in places:
            if len({row["key"] for _, row in nodes}) >= most and rank != nodes[-1][0]:
                break
            name, value, numbers = table.nodes_at(entry)
            for key, number in nsmallest(most, ((self._graph.keys[number], number) for number in numbers)):
                row = {"key": key, "labels": list(table.labels), "property": name, "value": shown(value)}
                nodes.append((rank, {**row, "relationships": int(degrees[number])}))
        return best_rows(nodes, most)

    @cached_property
    def _tables(self) -> "list[_TableTexts]":
        return [_TableTexts(self._graph.keys, table) for table in self._graph.node_tables if len(table.numbers)]

    @cached_property
    def _degrees(self) -> NDArray[np.int64]:
        """Return the number of relationships of each node; a loop counts once."""
        degrees = np.zeros(len(self._graph.keys), dtype=np.int64)
        for table in self._graph.relationship_tables:
            for ends in (table.sources, table.targets[table.sources != table.targets]):
                degrees += np.bincount(ends, minlength=len(degrees))
        return degrees


class _TableTexts:
    """The different texts of one table of nodes; an entry is the number of a text."""

    def __init__(self, keys: Sequence[str], table: NodeTable) -> None:
        self.labels = table.labels
        self._table = table
        entries = list(self._all_texts(keys))
        self._texts = [text for _, text, _ in entries]
        self._owners = [(name, position) for name, _, position in entries]
        plain = list(map(folded, self._texts))
        self._starts = list(accumulate((len(text) + 1 for text in plain[:-1]), initial=1))
        self._whole = "\n" + "\n".join(plain) + "\n"
        self._joined = _Spellings([text.replace(" ", "") for text in plain])
        tokens = _WORDS_AND_ENDS.findall(self._whole[1:])
        self._words = _Spellings(list(dict.fromkeys(tokens)))
        self._number_of = {word: number for number, word in enumerate(self._words.spellings)}
        codes = np.fromiter(map(self._number_of.__getitem__, tokens), dtype=np.int64, count=len(tokens))
        entry_of = np.cumsum(codes == self._number_of["\n"])  # of an end it is the next one
        order = np.argsort(codes, kind="stable")
        self._by_word = entry_of[order]
        self._word_starts = np.searchsorted(codes[order], np.arange(len(self._words.spellings) + 1))

    def _all_texts(self, keys: Sequence[str]) -> Iterator[tuple[str, str, int]]:
        """Yield property, text, and the position of the key in the table, or of the value in its pool."""
        for position, number in enumerate(self._table.numbers.tolist()):
            yield KEY, keys[number], position
        for name, column in self._table.columns.items():
            for code in np.unique(column.codes).tolist():
                value = column.pool[code] if code != MISSING else None
                for text in value if isinstance(value, tuple) else (value,):
                    if isinstance(text, str):
                        yield name, text, code

    def nodes_at(self, entry: int) -> tuple[str, Value, Sequence[int]]:
        """Return property, value and the numbers of the nodes that have it."""
        name, position = self._owners[entry]
        numbers = self._table.numbers
        if name == KEY:
            return name, self._texts[entry], [int(numbers[position])]
        column = self._table.columns[name]
        return name, column.pool[position], numbers[column.codes == position].tolist()

    def containing(self, sought: SearchText, property_name: str | None) -> list[tuple[Rank, int]]:
        """Return ranks and entries of texts that contain the text or all of its words."""
        numbers = [[self._number_of[word]] if word in self._number_of else [] for word in sought.words]
        entries = self._with("\n" + sought.folded, 1) | self._with(sought.folded) | self._with_words(numbers)
        return self._ranked(sought, entries, property_name)

    def close_to(self, sought: SearchText, property_name: str | None) -> list[tuple[Rank, int]]:
        """Return ranks and entries of texts with typing errors, or in which some words have them."""
        entries = set(self._joined.like(sought.joined)) | self._with_words(map(self._words.like, sought.words))
        return self._ranked(sought, entries, property_name)

    def _with_words(self, words: Iterable[Sequence[int]]) -> set[int]:
        """Return entries with one of the numbers of each word."""
        common: NDArray[np.int64] | None = None
        for numbers in words:
            starts, ends = self._word_starts[numbers], self._word_starts[[number + 1 for number in numbers]]
            entries = [self._by_word[start:end] for start, end in zip(starts, ends, strict=True)]
            some = np.unique(np.concatenate(entries)) if entries else np.array([], dtype=np.int64)
            common = some if common is None else np.intersect1d(common, some, assume_unique=True)
            if not len(common):
                break
        return set() if common is None else set(common[:_MOST_HITS].tolist())

    def _ranked(self, sought: SearchText, entries: Iterable[int], name: str | None) -> list[tuple[Rank, int]]:
        chosen = ((self._owners[entry][0], entry) for entry in entries)
        ranks = ((sought.rank(own, self._texts[entry]), entry) for own, entry in chosen if name in (None, own))
        return [(rank, entry) for rank, entry in ranks if rank is not None]

    def _with(self, text: str, offset: int = 0) -> set[int]:
        """Return entries that contain a text; its first `offset` characters are before the entry."""
        entries: set[int] = set()
        place = self._whole.find(text) if text else -1
        while place >= 0 and len(entries) < _MOST_HITS:
            entry = bisect_right(self._starts, place + offset) - 1
            entries.add(entry)
            next_start = self._starts[entry + 1] if entry + 1 < len(self._starts) else len(self._whole)
            place = self._whole.find(text, next_start - offset)
        return entries


class _Spellings:
    """Texts among which those with few typing errors are looked for."""

    def __init__(self, spellings: list[str]) -> None:
        self.spellings = spellings
        self._lengths = np.fromiter(map(len, spellings), dtype=np.int64, count=len(spellings))

    def like(self, text: str) -> list[int]:
        """Return the numbers of the spellings, those with the fewest errors first."""
        most = allowed_errors(text)
        numbers = np.flatnonzero(abs(self._lengths - len(text)) <= most).tolist()
        close = [self.spellings[number] for number in numbers]
        alike = process.extract(text, close, scorer=OSA.distance, score_cutoff=most, limit=_MOST_HITS)
        return [numbers[place] for _, _, place in alike]
