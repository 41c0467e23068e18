"""`scripted/look`: no language model. It looks the words of a question up as values, and lists what is around them.

It shows on any graph, without a key, what the tools, the steps and the evidence look like.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from graphwalk.encodings import read_rows
from graphwalk.evaluation.evidence import Evidence
from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.suites.ask.task import AskTask
from graphwalk.suites.suite import ScriptedAgents
from graphwalk.tools.observed import KEY, ObservedGraph, ObservedRelationship, observed_graph
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
"""Shorter texts are in many questions by accident."""
_WHAT_IT_IS = "I am a script and understand no question: I only look its words up."


class _Word(NamedTuple):
    """A value that stands in the question, and where the graph has it."""

    label: str
    property: str
    value: str


def look(question: str, schema: Schema) -> Policy:
    """Lists values, looks those that the question holds up, and says what is around them.

    Where no list holds one, as in long lists of which the first page alone is read, names in the question are looked
    up as they are written, keys too.
    """
    places = [(n.label, p.name) for n in schema.nodes for p in n.properties if p.name != KEY][:_MOST_PROPERTIES]
    keys = [(node.label, KEY) for node in schema.nodes][:_MOST_PROPERTIES]
    try:
        listed = (yield [_list(*place) for place in places]) if places else []
        words = _words(question, places, listed)
        if not words:
            tried = [_Word(*place, name) for name in _names(question) for place in (*keys, *places)][:_MOST_TRIED]
            found = (yield [_ask(_NODES, word) for word in tried]) if tried else []
            words = [word for word, text in zip(tried, found, strict=True) if read_rows(text)][:_MOST_FOUND]
        if not words:
            return f"{_WHAT_IT_IS} No property has a value that stands in the question."
        asked = [_ask(_NEIGHBORS, word) for word in words]
        found = yield list(asked)
    except AnswerNow:
        return f"{_WHAT_IT_IS} My calls were used up before I found anything."
    once = {
        part[2]: part for part in zip(words, asked, found, strict=True)
    }  # a node with several labels is found by each
    return "\n".join([_WHAT_IT_IS, *(line for part in once.values() for line in _told(*part))])


def _names(question: str) -> list[str]:
    """What may be a name: text in quotation marks, words in a row that begin with capitals, words with digits."""
    found = [next(filter(None, match), "") for match in _NAME.findall(question)]
    return list(dict.fromkeys(name for name in found if len(name) > 1))


def _ask(tool: str, word: _Word) -> Ask:
    return Ask(tool, {"label": word.label, "property_name": word.property, "property_value": word.value})


def _list(label: str, name: str) -> Ask:
    return Ask(_VALUES, {"property_name": name, "entity_name": label, "entity_type": "node"})


def _words(question: str, places: Sequence[tuple[str, str]], listed: Sequence[str]) -> list[_Word]:
    """The values that stand in the question, the longest first: they say the most."""
    said = Evidence([question, question.casefold()])
    found: dict[_Word, None] = {}
    for (label, name), text in zip(places, listed, strict=True):
        for row in read_rows(text) or ():
            value = row.get("values")
            if isinstance(value, str) and len(value) >= _SHORTEST and said.holds(value.casefold()):
                found[_Word(label, name, value)] = None
    return sorted(found, key=lambda word: -len(word.value))[:_MOST_FOUND]


def _told(word: _Word, ask: Ask, text: str) -> Iterator[str]:
    seen = _seen(ask, text)
    yield f"{word.value} is the {word.property} of a {word.label}. Around it:"
    for link in list(seen.relationships.values())[:_MOST_LINKS]:
        yield f"- {_said(seen, link)}"
    more = len(seen.relationships) - _MOST_LINKS
    if more > 0:
        yield f"- and {more} more relationships"
    if not seen.relationships:
        yield "- nothing: it has no relationships, or the look-up failed"


def _said(seen: ObservedGraph, link: ObservedRelationship) -> str:
    source, target = seen.nodes[link.source], seen.nodes[link.target]
    return f"{source.name} [{source.key}] {link.type} {target.name} [{target.key}]"


def _seen(ask: Ask, text: str) -> ObservedGraph:
    arguments: Any = json.dumps(ask.arguments)
    return observed_graph([ToolResult(ToolCall("", ask.tool, arguments), text, rows=len(read_rows(text) or ()))])


class AskAgents(ScriptedAgents[AskTask]):
    names: ClassVar[tuple[str, ...]] = ("look",)
    default_names: ClassVar[tuple[str, ...]] = ("look",)

    def policy(self, name: str, task: AskTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        assert schema is not None
        return look(task.question, schema)
