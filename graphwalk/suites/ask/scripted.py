"""`scripted/look`: a demo agent without a language model or an API key.

It searches for the names in a question, else for its words, and lists the neighbours of the nodes that match best.
"""

import json
import re
from collections.abc import Generator, Iterator
from typing import ClassVar

from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.stores.search import MATCHES
from graphwalk.suites.ask.task import AskTask
from graphwalk.suites.questions.agents.walker import neighborhood
from graphwalk.suites.suite import ScriptedAgents
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.observed import KEY, labels_in, observed_graph
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

_SEARCH = "search_nodes"
_NAME = re.compile(
    r"""\"([^\"]+)\"|[“„]([^“”„]+)[”“]|['‘]([^'’‘]+)['’]|\b([A-Z]\w*(?:[ -][A-Z0-9]\w*)*)|\b(\w*\d\w*)"""
)
_EQUAL = MATCHES[:2]
_LONGEST_PHRASE = 4
"""Words that may be a name together."""
_SHORTEST = 3
"""Shorter words occur in many questions by accident."""
_SPECIFIC = 6
_MOST_TRIED = 60
_MOST_FOUND = 3
_MOST_LINKS = 12
_INTRODUCTION = "I am a script, not a language model: I only look up the words of the question."


def look(question: str) -> Policy:
    """Search for the names in a question; if there are none, for its words."""
    try:
        rows = (yield from _search(_names(question))) or (yield from _search(_phrases(question)))
        if not rows:
            return f"{_INTRODUCTION} No property value occurs in the question."
        labels = [next(iter(labels_in(row, "label") or ()), "") for row in rows]
        calls = [neighborhood(label, KEY, row[KEY]) for label, row in zip(labels, rows, strict=True)]
        results = yield list(calls)
    except AnswerNow:
        return f"{_INTRODUCTION} The call limit was reached before I found anything."
    parts = zip(rows, calls, results, strict=True)
    return "\n".join([_INTRODUCTION, *(line for part in parts for line in _describe(*part))])


def _search(texts: list[str]) -> Generator[list[Ask], list[str], list[Row]]:
    """Return the best matches, those of the longest texts first; a short text must be equal to a value."""
    results = (yield [Ask(_SEARCH, {"text": text}) for text in texts]) if texts else []
    equal, alike = dict[str, Row](), dict[str, Row]()
    for text, result in sorted(zip(texts, results, strict=True), key=lambda pair: -len(pair[0])):
        nodes = read_rows(result) or []
        for row in (row for row in nodes if row["match"] == nodes[0]["match"]):
            if row["match"] in _EQUAL:
                equal.setdefault(row[KEY], row)
            elif len(text) >= _SPECIFIC:
                alike.setdefault(row[KEY], row)
    return list((equal or alike).values())[:_MOST_FOUND]


def _names(question: str) -> list[str]:
    """Return possible names: quoted text, sequences of capitalised words (not the first word), words with digits."""
    first = question.split(maxsplit=1)[0].strip("?!.,") if question.split() else ""
    matches = [next(filter(None, match), "") for match in _NAME.findall(question)]
    return [name for name in dict.fromkeys(matches) if len(name) > 1 and (name != first or not name.isalpha())]


def _phrases(question: str) -> list[str]:
    """Return the words of a question, alone and several together, the longest first."""
    words, sizes = re.findall(r"\w+", question), range(_LONGEST_PHRASE, 0, -1)
    phrases = [" ".join(words[at : at + size]) for size in sizes for at in range(len(words) - size + 1)]
    return [phrase for phrase in dict.fromkeys(phrases) if len(phrase) >= _SHORTEST][-_MOST_TRIED:]


def _describe(row: Row, ask: Ask, text: str) -> Iterator[str]:
    search, call = ToolCall("", _SEARCH, "{}"), ToolCall("", ask.tool, json.dumps(ask.arguments))
    neighbors = ToolResult(call, text, rows=len(read_rows(text) or ()))
    seen = observed_graph([ToolResult(search, "", rows=1, data=[row]), neighbors])
    value = row["value"] if isinstance(row["value"], str) else row[KEY]
    labels = ":".join(labels_in(row, "label") or ())
    yield f"{value} is the {row['property']} of a {labels or 'node'}. Its relationships:"
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
        return look(task.question)
