"""Evidence of an answer in words: the nodes and relationships that tool results show, and what they do not show.

An example. The results have shown p1 (name: Ida Berg) –DIRECTED→ f1 (title: Red Dust), and other films.

    Who directed Red Dust?     Ida Berg [p1] did, as Bo Falk told me.

The question names f1, the answer cites p1, and a relationship joins them: these are the evidence. Of Bo Falk there is
none. An answer none of whose names are in the results is not supported at all.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphwalk.analysis.evidence import Evidence, shows_data
from graphwalk.analysis.observed import ObservedGraph, observed_graph
from graphwalk.analysis.report.text_table import cell_text
from graphwalk.analysis.scene import MOST_USED, Fate, Scene, StateTable, paths_to_nearest, walked_scene
from graphwalk.graphs.graph import KEY, Node, Relationship
from graphwalk.graphs.names import name_of
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.runs.record import ResultRecord
from graphwalk.stores.search import folded, words_of
from graphwalk.tools.encodings import split_notes

_CITED = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")
"""Keys in square brackets, but no link of Markdown."""
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n[-*\s]*")
"""Between two sentences, or two items of a list."""
_WORD = re.compile(r"\w+")
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
    namesakes: tuple[str, ...] = ()
    """A sentence for each name of the question that several nodes have."""

    def as_dict(self) -> dict[str, Any]:
        nodes = [
            {KEY: node.key, "labels": list(node.labels), "properties": dict(node.properties)} for node in self.nodes
        ]
        relationships = [
            {"type": link.type, "source": link.source, "target": link.target, "properties": dict(link.properties)}
            for link in self.relationships
        ]
        return {
            "nodes": nodes,
            "relationships": relationships,
            "more_nodes": self.more,
            "namesakes": list(self.namesakes),
        }


def evidence_keys(question: str, answer: str | None, seen: ObservedGraph) -> list[str]:
    """Return the nodes that the question names, those that the answer cites or names, and what joins them.

    That is: a shortest observed path from each node of the answer to the nearest of the question, and the nodes that
    are joined with a node of the question and with one of the answer. If there is no answer, nothing.
    """
    if not answer:
        return []
    asked_about = [*named_in(question, seen), *_starts_named_in(question, seen)]
    cited = [key for key in cited_keys(answer) if key in seen.nodes]
    answered = cited or named_in(answer, seen)

    # A dictionary without values is a set that keeps its order. The nodes that the question names come first.
    chosen = dict.fromkeys(asked_about)
    chosen.update(dict.fromkeys(answered))
    for path in paths_to_nearest(seen, answered, set(asked_about), _LONGEST_PATH):
        chosen.update(dict.fromkeys(reversed(path)))

    # Both A –R→ x and A –S→ y prove an intersection, x being in the question and y in the answer.
    neighbors: dict[str, set[str]] = {}
    for link in seen.relationships:
        neighbors.setdefault(link.source, set()).add(link.target)
        neighbors.setdefault(link.target, set()).add(link.source)
    for key, others in neighbors.items():
        if not others.isdisjoint(asked_about) and not others.isdisjoint(answered):
            chosen[key] = None

    # "She joined in 1999" is shown by both ends of (Ida)-[:JOINED {year: 1999}]->(the club).
    in_answer = Evidence([answer])
    for link in seen.relationships:
        is_near = link.source in chosen or link.target in chosen
        if is_near and _holds_property(in_answer, link):
            chosen.update({link.source: None, link.target: None})
    return list(chosen)


def _holds_property(text: Evidence, link: Relationship) -> bool:
    """Return True if a text contains a property of a relationship; "" and booleans tell nothing apart."""
    for value in link.properties.values():
        if isinstance(value, bool) or value == "":
            continue
        if isinstance(value, int | float | str) and text.holds(value):
            return True
    return False


def evidence_of(question: str, answer: str | None, trajectory: Trajectory) -> AnswerEvidence:
    """Return the nodes of `evidence_keys`, as many as are shown, and the relationships between them."""
    seen = observed_graph(trajectory.results_read)
    if not seen.nodes:
        return AnswerEvidence()
    keys = evidence_keys(question, answer, seen)
    shown = keys[:MOST_USED]
    return AnswerEvidence(
        nodes=tuple(seen.nodes[key] for key in shown),
        relationships=tuple(link for link in seen.relationships if link.source in shown and link.target in shown),
        more=len(keys) - len(shown),
        namesakes=namesakes_in(question, seen),
    )


def _starts_named_in(question: str, seen: ObservedGraph) -> list[str]:
    """Return the nodes whose relationships were looked up and whose names the question has, however many have them."""
    asked = Evidence([question, question.casefold()])
    starts = []
    for key in seen.shown_of_nodes():
        if key not in seen.nodes:
            continue
        name = name_of(seen.nodes[key])
        if name != key and _holds_name(asked, name):
            starts.append(key)
    return starts


def _holds_name(asked: Evidence, name: str) -> bool:
    """Return True if a question, which is there twice, as it is and in lower case, contains a name."""
    return asked.holds(name) or asked.holds(name.casefold())


def namesakes_in(question: str, seen: ObservedGraph) -> tuple[str, ...]:
    """Return a sentence for each name of the question that several observed nodes have.

    "10 nodes are named Pia Vik; the model walked from one"
    """
    keys_of: dict[str, list[str]] = {}
    for node in seen.nodes.values():
        name = name_of(node)
        if name != node.key:
            keys_of.setdefault(name, []).append(node.key)
    shared = {name: keys for name, keys in keys_of.items() if len(keys) > 1}
    if not shared:
        return ()

    asked = Evidence([question, question.casefold()])
    walked = seen.shown_of_nodes()
    sentences = []
    for name, keys in shared.items():
        if _holds_name(asked, name):
            starts = sum(key in walked for key in keys)
            number = {0: "none", 1: "one"}.get(starts, str(starts))
            sentences.append(f"{len(keys)} nodes are named {name}; the model walked from {number}")
    return tuple(sentences)


def answer_scene(record: ResultRecord, trajectory: Trajectory) -> Scene:
    """Return the scene of an answer, with its evidence marked; `record` has the question and the answer."""
    question = record["task"]["question"]
    answer = record["answer"]
    answer_text = None
    # The rows of a query that a model wrote support nothing by themselves.
    if answer is not None and record.get("setting") != "write_cypher":
        answer_text = cell_text(answer)

    seen = observed_graph(trajectory.results_read)
    keys = evidence_keys(question, answer_text, seen)
    asked_about = set(named_in(question, seen)).intersection(keys)
    marks: dict[str, Fate] = {key: "right" for key in keys if key not in asked_about}

    table = None
    if record["task"].get("gold") is None:
        table = StateTable(("answer",), (("", answer),))
    scene = walked_scene(record, trajectory, asked_about, marks, table)
    return replace(scene, legend={**scene.legend, "right": "supports the answer"})


def named_in(text: str, seen: ObservedGraph) -> list[str]:
    """Return the keys of nodes whose key or text property occurs in a text. Numbers are ambiguous and ignored."""
    names_of = {node.key: set(_names(node)) for node in seen.nodes.values()}
    nodes_by_name: Counter[str] = Counter()
    for names in names_of.values():
        nodes_by_name.update(names)

    words = Evidence([text, text.casefold()])
    found = []
    for key, names in names_of.items():
        own_names = [name for name in names if nodes_by_name[name] <= _MOST_NAMESAKES]
        if any(words.holds(name) for name in own_names):
            found.append(key)
    return found


def _names(node: Node) -> Iterator[str]:
    """Yield the key and the text properties of a node, as they are and in lower case."""
    for value in (node.key, *node.properties.values()):
        if not isinstance(value, str) or len(value) < _SHORTEST_NAME:
            continue
        is_number = value.strip("+-.").isdigit()
        if not is_number:
            yield value
            yield value.casefold()


def unsupported_because(question: str, answer: str | None, results: Sequence[ToolResult]) -> str:
    """Return why no result can support an answer, "" if one may. Words are compared, not what they claim.

    Either no call has read the graph, or no result contains one of the keys and names of the answer that the question
    does not contain. Numbers may be computed from rows; without any row they count as names.
    """
    if not answer:
        return ""
    has_read = any(result.error is None and result.rows is not None for result in results)
    if not has_read:
        has_failed = any(result.error for result in results)
        return EVERY_LOOK_UP_FAILED if has_failed else "no tool has read it"

    data = " ".join(split_notes(result.content)[1] for result in results if shows_data(result))
    shown = set(words_of(folded(data)))
    asked = set(words_of(folded(question)))

    claimed: dict[str, str] = {}  # a name as it is compared → as it is written
    for name in _names_in_answer(answer, with_numbers=not shown):
        if len(name) > 1 and folded(name) not in asked:
            claimed[folded(name)] = name
    if not claimed or any(name in shown for name in claimed):
        return ""
    return f"no result contains {', '.join(claimed.values())}"


def _names_in_answer(answer: str, *, with_numbers: bool) -> list[str]:
    """Return the words of cited keys, and the words with a capital letter: of `He saw Ida [p3]` p3 and Ida."""
    names = _WORD.findall(" ".join(cited_keys(answer)))
    for sentence in _SENTENCE.split(_CITED.sub("", answer)):
        words = _WORD.findall(sentence)
        # The first word has a capital letter anyway; if it is the only one, it is a name.
        candidates = words[1:] if len(words) > 1 else words
        for word in candidates:
            has_capital = word != word.lower()
            if has_capital or (with_numbers and word.isdigit()):
                names.append(word)
    return names


def cited_keys(answer: str) -> tuple[str, ...]:
    """Return the keys in square brackets, once each, in order: `Ida [p3] and Bo [p4, p5]` cites p3, p4 and p5."""
    keys: dict[str, None] = {}
    for match in _CITED.finditer(answer):
        for part in match[1].split(","):
            key = part.strip(" `'\"")
            if key:
                keys[key] = None
    return tuple(keys)
