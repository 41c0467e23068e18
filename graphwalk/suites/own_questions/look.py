"""`scripted/look`: a demo agent without a language model or an API key.

It searches for the names in a question, else for its words. Of the nodes that match best it lists the properties and
relationships that the question names, else all relationships.
"""

import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphwalk.config.templates import with_article
from graphwalk.graphs.graph import KEY, Node, Relationship
from graphwalk.graphs.names import name_of
from graphwalk.graphs.values import Row
from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.stores.search import MATCHES, folded, words_of
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.relationship_rows import is_cut, is_node_key, labels_in, relationship_in

_SEARCH = "search_nodes"
_NODES = "get_node_by_property"
_NEIGHBORS = "get_all_nearest_neighbors"
_NAME = re.compile(r"\b[A-Z]\w*(?:[ -][A-Z0-9]\w*)*|\b\w*\d\w*")
_EQUAL = MATCHES[:2]
_LONGEST_PHRASE = 4
"""Words that may be a name together."""
_SHORTEST = 3
"""Shorter words occur in many questions by accident."""
_SPECIFIC = 6
_MOST_TRIED = 60
_MOST_FOUND = 3
_INTRODUCTION = "I am a script, not a language model: I only look up the words of the question."


def look(question: str) -> Generator[list[Ask], list[str], tuple[str, list[Any]]]:
    """Return an answer in words, and a list of what the question names: values of properties, else neighbours.

    The nodes are those with a name in the question; if there are none, with its other words.
    """
    try:
        rows = yield from _search(_names(question))
        if not rows:
            rows = yield from _search(_phrases(question))
        calls = []
        for row in rows:
            calls += [_look_up(_NODES, row), _look_up(_NEIGHBORS, row)]
        results = []
        if calls:
            results = yield list(calls)
    except AnswerNow:
        return f"{_INTRODUCTION} The call limit was reached before I found anything.", []
    if not rows:
        return f"{_INTRODUCTION} No property value occurs in the question.", []
    seen = _Seen()
    for ask, text in zip(calls, results, strict=True):
        for row in read_rows(text) or ():
            seen.add(row, ask.tool)
    lines = [_INTRODUCTION]
    values: list[Any] = []
    neighbors: list[Any] = []
    for row in rows:
        description = _describe(row, seen, question)
        lines += description.lines
        values += description.values
        neighbors += description.neighbors
    return "\n".join(lines), values or neighbors


@dataclass
class _Description:
    """Lines about a node, and the values and neighbours that the question names."""

    lines: list[str]
    values: list[Any] = field(default_factory=list)
    neighbors: list[Any] = field(default_factory=list)


class _Seen:
    """The nodes and relationships in the rows of look-ups."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.relationships: list[Relationship] = []
        self._looks: set[tuple[str, str, str, str]] = set()
        """Type, source, target and text of the properties of each relationship: both of its ends may show it."""

    def add(self, row: Row, tool: str) -> None:
        """Add what a row of one of the two look-ups shows."""
        # {"label": "Harbour", "properties": {"key": "h1", "name": "Bergen"}}
        if tool == _NODES:
            self._add_node(row.get("properties"))
            return

        link = relationship_in(row, label="")  # no label is read of what was seen
        if link is None:
            return
        self._add_node({KEY: link.centre})
        self._add_node(link.neighbor)
        look = (link.type, link.source, link.target, str(sorted(link.properties.items())))
        if link.directed and look not in self._looks:
            self._looks.add(look)
            self.relationships.append(Relationship(link.type, link.source, link.target, link.properties))

    def _add_node(self, properties: Any) -> None:
        if not isinstance(properties, dict) or not is_node_key(properties.get(KEY)):
            return
        key = str(properties[KEY])
        shown = dict(self.nodes[key].properties) if key in self.nodes else {}
        for name, value in properties.items():
            if name != KEY and value is not None and not is_cut(value):
                shown[name] = value
        self.nodes[key] = Node(key, (), shown)


def _describe(row: Row, seen: _Seen, question: str) -> _Description:
    """Return what is known of the node that a row of a search shows.

    The row {"key": "h1", "label": "Harbour", "property": "name", "value": "Bergen", …} and the question "Who owns the
    ships of Bergen?" give the values of properties and the relationships with a word of "Who owns the ships of".
    """
    key = row[KEY]
    value = row["value"] if isinstance(row["value"], str) else key
    other_words = set(words_of(folded(question))) - set(words_of(folded(value)))

    properties: Mapping[str, Any] = seen.nodes[key].properties if key in seen.nodes else {}
    named_properties = {name: held for name, held in properties.items() if _names_one_of(other_words, name)}
    links = [link for link in seen.relationships if key in (link.source, link.target)]
    named_links = [link for link in links if _names_one_of(other_words, link.type)]

    labels = ":".join(labels_in(row, "label") or ())
    description = _Description([f"{value} is the {row['property']} of {with_article(labels or 'node')}."])
    for name, held in named_properties.items():
        description.lines.append(f"- {name}: {held}")
        description.values += held if isinstance(held, list) else [held]
    for link in named_links or links:
        source = seen.nodes[link.source]
        target = seen.nodes[link.target]
        description.lines.append(f"- {name_of(source)} [{source.key}] {link.type} {name_of(target)} [{target.key}]")
    for link in named_links:
        neighbor = seen.nodes[link.target if link.source == key else link.source]
        description.neighbors.append(neighbor.properties.get("name", neighbor.key))
    return description


def _names_one_of(words: Iterable[str], name: str) -> bool:
    """Return True if a word and a part of the name begin alike: "own" and OWNS."""
    parts = [part for part in re.split(r"[\W_]+", name.lower()) if len(part) >= _SHORTEST]
    for word in words:
        if len(word) < _SHORTEST:
            continue
        for part in parts:
            if word.startswith(part) or part.startswith(word):
                return True
    return False


def _search(texts: list[str]) -> Generator[list[Ask], list[str], list[Row]]:
    """Return the best matches, those of the longest texts first; a short text must be equal to a value."""
    if not texts:
        return []
    results = yield [Ask(_SEARCH, {"text": text}) for text in texts]
    longest_first = sorted(zip(texts, results, strict=True), key=lambda pair: -len(pair[0]))
    equal: dict[str, Row] = {}
    alike: dict[str, Row] = {}
    for text, result in longest_first:
        rows = read_rows(result) or []
        for row in rows:
            if row["match"] != rows[0]["match"]:
                continue  # the first row is of the best kind of match
            if row["match"] in _EQUAL:
                equal.setdefault(row[KEY], row)
            elif len(text) >= _SPECIFIC:
                alike.setdefault(row[KEY], row)
    return list((equal or alike).values())[:_MOST_FOUND]


def _names(question: str) -> list[str]:
    """Return possible names: sequences of capitalised words (not the first word), words with digits."""
    words = question.split(maxsplit=1)
    first_word = words[0].strip("?!.,") if words else ""
    names = []
    for name in dict.fromkeys(_NAME.findall(question)):
        # "Which" begins every second question. "R2D2", at the beginning too, is a name.
        is_only_first_word = name == first_word and name.isalpha()
        if len(name) > 1 and not is_only_first_word:
            names.append(name)
    return names


def _phrases(question: str) -> list[str]:
    """Return the words of a question, alone and several together, the longest first."""
    words = re.findall(r"\w+", question)
    phrases = []
    for size in range(_LONGEST_PHRASE, 0, -1):
        for start in range(len(words) - size + 1):
            phrases.append(" ".join(words[start : start + size]))
    # Each once, in this order. Of a long question the shorter phrases are tried.
    long_enough = [phrase for phrase in dict.fromkeys(phrases) if len(phrase) >= _SHORTEST]
    return long_enough[-_MOST_TRIED:]


def _look_up(tool: str, row: Row) -> Ask:
    label = next(iter(labels_in(row, "label") or ()), "")
    return Ask(tool, {"label": label, "property_name": KEY, "property_value": row[KEY]})


def look_in_words(question: str) -> Policy:
    """Return the answer of `look` without its list."""
    text, _ = yield from look(question)
    return text
