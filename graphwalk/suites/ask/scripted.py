"""`scripted/look`: a demo agent without a language model or an API key.

It looks up the words of a question as property values, and lists their neighbours.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.suites.ask.task import AskTask
from graphwalk.suites.suite import ScriptedAgents
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.observed import KEY, observed_graph
from graphwalk.tools.observed_values import Evidence
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult
from graphwalk.types.schema import Schema

_VALUES, _NEIGHBORS = "get_unique_property_values", "get_all_nearest_neighbors"
_NODES = "get_node_by_property"
_NAME = re.compile(
    r"""\"([^\"]+)\"|[“„]([^“”„]+)[”“]|['‘]([^'’‘]+)['’]|\b([A-Z]\w*(?:[ -][A-Z0-9]\w*)*)|\b(\w*\d\w*)"""
)
_MOST_PROPERTIES = 40
_MOST_FOUND = 3
_MOST_TRIED = 60
_MOST_LINKS = 12
_SHORTEST = 3
"""Shorter values occur in many questions by accident."""
_INTRODUCTION = "I am a script, not a language model: I only look up the words of the question."


class _Word(NamedTuple):
    """A value in the question with its label and property in the graph."""

    label: str
    property: str
    value: str


def look(question: str, schema: Schema) -> Policy:
    """List the values of all properties, look up those in the question, and answer with their neighbours.

    If none is found, for example because only the first page of a long list is read, look up names and keys directly.
    """
    places = [(n.label, p.name) for n in schema.nodes for p in n.properties if p.name != KEY][:_MOST_PROPERTIES]
    keys = [(node.label, KEY) for node in schema.nodes][:_MOST_PROPERTIES]
    lists = [Ask(_VALUES, {"property_name": p, "entity_name": n, "entity_type": "node"}) for n, p in places]
    try:
        listed = (yield lists) if lists else []
        words = _words(question, places, listed)
        if not words:
            tried = [_Word(*place, name) for name in _names(question) for place in (*keys, *places)][:_MOST_TRIED]
            results = (yield [_ask(_NODES, word) for word in tried]) if tried else []
            words = [word for word, text in zip(tried, results, strict=True) if read_rows(text)][:_MOST_FOUND]
        if not words:
            return f"{_INTRODUCTION} No property value occurs in the question."
        calls = [_ask(_NEIGHBORS, word) for word in words]
        results = yield list(calls)
    except AnswerNow:
        return f"{_INTRODUCTION} The call limit was reached before I found anything."
    # A node with several labels is found once per label.
    by_text = {part[2]: part for part in zip(words, calls, results, strict=True)}
    return "\n".join([_INTRODUCTION, *(line for part in by_text.values() for line in _describe(*part))])


def _names(question: str) -> list[str]:
    """Return possible names: quoted text, sequences of capitalised words, words with digits."""
    matches = [next(filter(None, match), "") for match in _NAME.findall(question)]
    return list(dict.fromkeys(name for name in matches if len(name) > 1))


def _ask(tool: str, word: _Word) -> Ask:
    return Ask(tool, {"label": word.label, "property_name": word.property, "property_value": word.value})


def _words(question: str, places: Sequence[tuple[str, str]], listed: Sequence[str]) -> list[_Word]:
    """Return the values in the question, the longest first, because they are the most specific."""
    words = Evidence([question, question.casefold()])
    values: dict[_Word, None] = {}
    for (label, name), text in zip(places, listed, strict=True):
        for row in read_rows(text) or ():
            value = row.get("values")
            if isinstance(value, str) and len(value) >= _SHORTEST and words.holds(value.casefold()):
                values[_Word(label, name, value)] = None
    return sorted(values, key=lambda word: -len(word.value))[:_MOST_FOUND]


def _describe(word: _Word, ask: Ask, text: str) -> Iterator[str]:
    call = ToolCall("", ask.tool, json.dumps(ask.arguments))
    seen = observed_graph([ToolResult(call, text, rows=len(read_rows(text) or ()))])
    yield f"{word.value} is the {word.property} of a {word.label}. Its relationships:"
    for link in list(seen.relationships.values())[:_MOST_LINKS]:
        source, target = seen.nodes[link.source], seen.nodes[link.target]
        yield f"- {source.name} [{source.key}] {link.type} {target.name} [{target.key}]"
    more = len(seen.relationships) - _MOST_LINKS
    if more > 0:
        yield f"- and {more} more relationships"
    if not seen.relationships:
        yield "- none, or the look-up failed"


class AskAgents(ScriptedAgents[AskTask]):
    names: ClassVar[tuple[str, ...]] = ("look",)
    default_names: ClassVar[tuple[str, ...]] = ("look",)

    def policy(self, name: str, task: AskTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        assert schema is not None
        return look(task.question, schema)
