"""Evidence of an answer in words: the nodes and relationships that tool results show, and what they do not show."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphwalk.analysis.report.text_table import plain
from graphwalk.analysis.scene import MOST_USED, Scene, StateTable, paths_to_nearest, walked_scene
from graphwalk.graphs.graph import KEY, Node, Relationship
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.runs.record import ResultRecord
from graphwalk.stores.search import folded, words_of
from graphwalk.tools.encodings import split_notes
from graphwalk.tools.observed import Evidence, ObservedGraph, observed_graph, shows_data

_CITED = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")
"""Keys in square brackets, but no link of Markdown."""
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n[-*\s]*")
EVERY_LOOK_UP_FAILED = "every look-up failed"
_LONGEST_PATH = 4
_MOST_NAMESAKES = 5
"""A value that more nodes share does not identify a node."""
_SHORTEST_NAME = 2


@dataclass(frozen=True)
class AnswerEvidence:
    """Observed nodes and relationships behind an answer; `more` further nodes are left out."""

    nodes: tuple[Node, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    more: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "nodes": [{KEY: n.key, "labels": list(n.labels), "properties": dict(n.properties)} for n in self.nodes],
            "relationships": [
                {"type": r.type, "source": r.source, "target": r.target, "properties": dict(r.properties)}
                for r in self.relationships
            ],
            "more_nodes": self.more,
        }


def evidence_keys(question: str, answer: str | None, seen: ObservedGraph) -> list[str]:
    """Return the nodes that the answer cites or names, and shortest observed paths to nodes of the question.

    If the answer names no node (a number, a date), return the nodes of the question; if there is no answer, nothing.
    """
    if not answer:
        return []
    asked_about = named_in(question, seen)
    answered = [key for key in cited_keys(answer) if key in seen.nodes] or named_in(answer, seen)
    chosen = dict.fromkeys(answered or asked_about)
    for path in paths_to_nearest(seen, answered, set(asked_about), _LONGEST_PATH):
        chosen |= dict.fromkeys(reversed(path))
    in_answer = Evidence([answer])
    for link in seen.relationships:
        touches = link.source in chosen or link.target in chosen
        specific = (value for value in link.properties.values() if not isinstance(value, bool) and value != "")
        if touches and any(isinstance(v, int | float | str) and in_answer.holds(v) for v in specific):
            chosen |= {link.source: None, link.target: None}
    return list(chosen)


def evidence_of(question: str, answer: str | None, trajectory: Trajectory) -> AnswerEvidence:
    """Return the nodes of `evidence_keys`, as many as are shown, and the relationships between them."""
    seen = observed_graph(trajectory.results)
    keys = evidence_keys(question, answer, seen)
    shown = keys[:MOST_USED]
    among = [link for link in seen.relationships if link.source in shown and link.target in shown]
    return AnswerEvidence(tuple(seen.nodes[key] for key in shown), tuple(among), len(keys) - len(shown))


def answer_scene(record: ResultRecord, trajectory: Trajectory) -> Scene:
    """Return the scene of an answer, with its evidence marked; `record` has the question and the answer."""
    question, answer = record["task"]["question"], record["answer"]
    seen = observed_graph(trajectory.results)
    is_known = answer is not None and record.get("setting") != "write_cypher"
    keys = evidence_keys(question, plain(answer) if is_known else None, seen)
    asked_about = set(named_in(question, seen)).intersection(keys)
    evidence = [key for key in keys if key not in asked_about]
    table = None if record["task"].get("gold") is not None else StateTable(("answer",), (("", answer),))
    scene = walked_scene(record, trajectory, asked_about, dict.fromkeys(evidence, "right"), table)
    return replace(scene, legend={**scene.legend, "right": "supports the answer"})


def named_in(text: str, seen: ObservedGraph) -> list[str]:
    """Return the keys of nodes whose key or text property occurs in a text. Numbers are ambiguous and ignored."""
    words = Evidence([text, text.casefold()])
    sharing = Counter(value for node in seen.nodes.values() for value in set(_names(node)))
    return [
        node.key
        for node in seen.nodes.values()
        if any(words.holds(name) for name in _names(node) if sharing[name] <= _MOST_NAMESAKES)
    ]


def _names(node: Node) -> Iterator[str]:
    for value in (node.key, *node.properties.values()):
        if isinstance(value, str) and len(value) >= _SHORTEST_NAME and not value.strip("+-.").isdigit():
            yield value
            yield value.casefold()


def unsupported_because(question: str, answer: str | None, results: Sequence[ToolResult]) -> str:
    """Return why no result can support an answer, "" if one may. Words are compared, not what they claim.

    Either no call has read the graph, or no result contains one of the keys and names of the answer that the question
    does not contain. Numbers may be computed from rows; without any row they count as names.
    """
    if not any(result.error is None and result.rows is not None for result in results) and answer:
        return EVERY_LOOK_UP_FAILED if any(result.error for result in results) else "no tool has read it"
    shown = words_of(folded(" ".join(split_notes(result.content)[1] for result in results if shows_data(result))))
    words = re.findall(r"\w+", " ".join(cited_keys(answer or "")))
    for sentence in _SENTENCE.split(_CITED.sub("", answer or "")):
        # The first word has a capital letter anyway; if it is the only one, it is a name.
        first, *rest = re.findall(r"\w+", sentence) or [""]
        words += [word for word in rest or [first] if word != word.lower() or (word.isdigit() and not shown)]
    asked_words = words_of(folded(question))
    names = {folded(word): word for word in words if len(word) > 1 and folded(word) not in asked_words}
    return f"no result contains {', '.join(names.values())}" if names and names.keys().isdisjoint(shown) else ""


def cited_keys(answer: str) -> tuple[str, ...]:
    """Return the keys in square brackets, once each, in order: `Ida [p3] and Bo [p4, p5]` cites p3, p4 and p5."""
    keys: dict[str, None] = {}
    for match in _CITED.finditer(answer):
        keys |= dict.fromkeys(part.strip(" `'\"") for part in match[1].split(","))
    return tuple(key for key in keys if key)
