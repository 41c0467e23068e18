"""Random trajectories with right answers, and a search for another graph that gives the same results.

An answer follows from tool results if it is right in every graph that gives them. The search changes the graph: it adds
and removes nodes and relationships, changes properties and labels, keeps what changes the target and not the schema,
and makes all calls again. Equal results, byte for byte, are a counterexample.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import Schema, schema_of
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.graph_prompts import tools_system
from graphwalk.suites.questions.catalogue import python_part, shipped_kinds
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.rows import row_set
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools
from tests.explained import explained_score
from tests.suites.questions.evidence_graph import Asked, near, nodes, task, values

LABELS, TYPES = ("A", "B", "C"), ("R", "S")
AGENTS: tuple[Mapping[str, Any], ...] = (
    *({},) * 5,
    {"result_tokens": 120},
    {"direction": False},
    {"relationship_properties": False},
)
KINDS = tuple(shipped_kinds())


@dataclass
class Case:
    """A question about a graph with a right answer, after calls."""

    graph: PropertyGraph
    task: QuestionTask
    agent: AgentConfig
    asked: list[Asked]
    results: list[ToolResult]
    answered: frozenset[Any]
    """The rows of the answer."""
    score: Any

    @property
    def about(self) -> str:
        """Return what repeats the case, for a message."""
        return json.dumps([self.task.template, self.task.parameters, self.asked], indent=1)


def random_graph(draw: Random) -> PropertyGraph:
    several = draw.random() < 0.15
    all_nodes = []
    for number in range(draw.randint(4, 9)):
        labels: tuple[str, ...] = (draw.choice(LABELS),)
        if several:
            labels = tuple(sorted(draw.sample(LABELS, draw.randint(0, 2))))
        all_nodes.append(Node(f"n{number}", labels, _random_properties(draw)))
    keys = [node.key for node in all_nodes]
    patterns = draw.sample([(s, t, e) for s in LABELS for t in TYPES for e in LABELS], draw.randint(2, 6))
    links = []
    for _ in range(draw.randint(2, 14)):
        source, target, type_ = draw.choice(all_nodes), draw.choice(all_nodes), draw.choice(TYPES)
        fits = any(type_ == t and s in source.labels and e in target.labels for s, t, e in patterns)
        if fits or draw.random() < 0.2:
            links.append(Relationship(type_, source.key, target.key, _random_properties(draw, "w")))
            if draw.random() < 0.15:
                links.append(links[-1])
    assert keys
    return PropertyGraph.from_rows(all_nodes, links)


def _random_properties(draw: Random, *names: str) -> dict[str, Any]:
    return {name: draw.randint(1, 2) for name in names or ("p", "q") if draw.random() < 0.8}


def random_task(draw: Random, kind: str, graph: PropertyGraph) -> QuestionTask | None:
    """Return a question with random parameters that has an answer; None without one."""
    for _ in range(30):
        starts = list(graph.nodes())
        start = draw.choice(starts)
        parameters: dict[str, Any] = {}
        for name, parameter in shipped_kinds()[kind].parameters.items():
            of_relationships = str(parameter.of).startswith("relationship")
            drawn: dict[str, Any] = {
                "label": draw.choice(LABELS),
                "relationship_type": draw.choice(TYPES),
                "property": "w" if of_relationships else draw.choice("pq"),
                "value": draw.randint(1, 2),
                "key": start.key,
                "hops": 2,
            }
            parameters[name] = drawn[parameter.role]
        if "key" in parameters:
            if not start.labels:
                continue
            parameters["source_label"] = start.labels[0]
        one = task(kind, graph, **parameters)
        if one.target and all(value is not None for row in one.target for value in row.values()):
            return one
        if one.target and kind == "relationship_by_property":
            return one
    return None


def random_calls(draw: Random, graph: PropertyGraph, one: QuestionTask) -> list[Asked]:
    """Return calls that show much of the graph, some of them left out, filtered or for one page only."""
    chance = draw.choice((0.3, 0.6, 0.85, 0.95, 1.0))
    is_by_value = draw.random() < 0.5
    calls = _calls_by_key(draw, graph, chance)
    if is_by_value:
        calls = _calls_by_value(draw, chance)
    calls += _lists_of_values(draw, chance)
    calls += _calls_with_values_of(draw, one)
    draw.shuffle(calls)
    if draw.random() < 0.3:
        calls = calls[: draw.randint(0, len(calls))]
    return calls


def _calls_by_key(draw: Random, graph: PropertyGraph, chance: float) -> list[Asked]:
    calls: list[Asked] = []
    for node in graph.nodes():
        for label in node.labels[:1] or ("",):
            if draw.random() < chance:
                calls.append(_filtered(draw, near(label, "key", node.key)))
            if draw.random() < chance / 3:
                calls.append(nodes(label, "key", node.key))
    return calls


def _calls_by_value(draw: Random, chance: float) -> list[Asked]:
    calls: list[Asked] = []
    for label in LABELS:
        for value in (1, 2):
            if draw.random() < chance:
                calls.append(_filtered(draw, near(label, "p", value)))
        for value in (1, 2):
            if draw.random() < chance:
                calls.append(nodes(label, draw.choice("pq"), value))
    return calls


def _lists_of_values(draw: Random, chance: float) -> list[Asked]:
    """Return calls for all keys of a label, and for all values of a property."""
    calls: list[Asked] = []
    for label in LABELS:
        if draw.random() < chance:
            calls.append(values(label))
        if draw.random() < 0.3:
            calls.append(values(label, draw.choice("pq")))
    if draw.random() < 0.3:
        calls.append(values(draw.choice(TYPES), "w", "relationship"))
    return calls


def _calls_with_values_of(draw: Random, one: QuestionTask) -> list[Asked]:
    """Return calls for nodes with the labels and the values of a question."""
    calls: list[Asked] = []
    values_of_question = [value for value in one.parameters.values() if value in (1, 2)]
    labels = [str(value) for name, value in one.parameters.items() if name.endswith("label")]
    for label in labels:
        for value in values_of_question:
            if draw.random() < 0.5:
                calls.append(_filtered(draw, near(label, str(one.parameters.get("node_property", "p")), value)))
            if draw.random() < 0.5:
                calls.append(nodes(label, str(one.parameters.get("property", "p")), value))
    return calls


def _filtered(draw: Random, asked: Asked) -> Asked:
    name, arguments = asked
    if draw.random() < 0.25:
        arguments = {**arguments, "direction": draw.choice(("outgoing", "incoming"))}
    if draw.random() < 0.15:
        arguments = {**arguments, "relationship_type": draw.choice(TYPES)}
    return name, arguments


async def results_of(graph: PropertyGraph, schema: Schema, agent: AgentConfig, asked: list[Asked]) -> list[ToolResult]:
    async with EmbeddedDatabase() as database:
        toolbox = GraphToolbox(await database.load(graph), schema, load_tools(OWN_GRAPH_TOOLS), agent)
        calls = [ToolCall(str(n), name, json.dumps(arguments)) for n, (name, arguments) in enumerate(asked)]
        return [await toolbox.call(call) for call in calls]


async def random_case(draw: Random, kind: str) -> Case | None:
    """Return a case; None if the question has no answer on the graph that was drawn."""
    graph = random_graph(draw)
    one = random_task(draw, kind, graph)
    if one is None:
        return None
    agent = AgentConfig(**draw.choice(AGENTS))
    asked = random_calls(draw, graph, one)
    if agent.result_tokens:
        more = [(name, {**arguments, "page": 2}) for name, arguments in asked if draw.random() < 0.8]
        asked += more
    schema = schema_of(graph)
    results = await results_of(graph, schema, agent, asked)
    answer = one.target if one.mode == "set" else draw.sample(one.target, 1)
    turns = (Turn(Message("assistant"), results=tuple(results)), Turn(Message("assistant", json.dumps(answer))))
    prompt = (tools_system(schema, agent, search=True), Message("user", "Which?"))
    trajectory = Trajectory(prompt, turns, ExitStatus.ANSWERED)
    score = explained_score(one, "tools", trajectory, one.read(trajectory.reply))
    assert score.correct
    return Case(graph, one, agent, asked, results, row_set(answer, one.scored_fields), score)


async def counterexample(draw: Random, case: Case, tries: int) -> PropertyGraph | None:
    """Return a graph with the same schema and results, in which the answer is not the right one; None if not found.

    `tries`: graphs in which the calls are made again, first those with one change, then those with several.
    """
    schema = schema_of(case.graph)
    part: Any = python_part(case.task.template)
    question = part(**case.task.parameters)
    fields = case.task.scored_fields
    single_changes = list(_single_changes(case.graph))
    draw.shuffle(single_changes)
    played = 0
    for number in range(len(single_changes) + 20 * tries):
        if number < len(single_changes):
            changed = PropertyGraph.from_rows(*single_changes[number])
        else:
            changed = case.graph
            for _ in range(draw.randint(2, 3)):
                changed = _changed(draw, changed)
        right = row_set(question.rows(GraphIndex(changed)), fields)
        is_right = right == case.answered if case.task.mode == "set" else case.answered <= right
        if is_right or schema_of(changed) != schema:
            continue
        if await _gives_the_same(changed, schema, case):
            return changed
        played += 1
        if played == tries:
            break
    return None


async def _gives_the_same(changed: PropertyGraph, schema: Schema, case: Case) -> bool:
    """Return True if all calls give the same texts."""
    async with EmbeddedDatabase() as database:
        toolbox = GraphToolbox(await database.load(changed), schema, load_tools(OWN_GRAPH_TOOLS), case.agent)
        for result in case.results:
            again = await toolbox.call(result.call)
            if again.content != result.content:
                return False
    return True


Elements = tuple[list[Node], list[Relationship]]
Pattern = tuple[tuple[str, ...], str, tuple[str, ...]]
"""Labels of the source, type, labels of the target."""


def _single_changes(graph: PropertyGraph) -> Iterator[Elements]:
    """Yield nodes and relationships of all graphs with one more relationship, one more node, or another property."""
    all_nodes = list(graph.nodes())
    links = list(graph.relationships())
    labels = {node.key: node.labels for node in all_nodes}
    patterns = {(labels[link.source], link.type, labels[link.target]) for link in links}
    for link in _further_relationships(all_nodes, patterns):
        yield all_nodes, [*links, link]
    for new, link_of_new in _further_nodes(all_nodes, patterns):
        yield [*all_nodes, new], links if link_of_new is None else [*links, link_of_new]
    for place, node in enumerate(all_nodes):
        for changed in _with_another_property(node):
            yield [*all_nodes[:place], changed, *all_nodes[place + 1 :]], links


def _further_relationships(all_nodes: list[Node], patterns: set[Pattern]) -> Iterator[Relationship]:
    for properties in ({}, {"w": 1}, {"w": 2}):
        for source in all_nodes:
            for target in all_nodes:
                for source_labels, type_, target_labels in sorted(patterns):
                    if (source.labels, target.labels) == (source_labels, target_labels):
                        yield Relationship(type_, source.key, target.key, properties)


def _further_nodes(all_nodes: list[Node], patterns: set[Pattern]) -> Iterator[tuple[Node, Relationship | None]]:
    """Yield a new node without relationships, and with one that fits a pattern, for each set of labels and value."""
    for labels in sorted({node.labels for node in all_nodes}):
        for p in (None, 1, 2):
            new = Node("new", labels, {} if p is None else {"p": p, "q": p})
            yield new, None
            for end in all_nodes:
                for link in _relationships_between(new, end, patterns):
                    yield new, link


def _relationships_between(new: Node, end: Node, patterns: set[Pattern]) -> Iterator[Relationship]:
    for type_ in TYPES:
        for w in (1, 2):
            if (new.labels, type_, end.labels) in patterns:
                yield Relationship(type_, new.key, end.key, {"w": w})
            if (end.labels, type_, new.labels) in patterns:
                yield Relationship(type_, end.key, new.key, {"w": w})


def _with_another_property(node: Node) -> Iterator[Node]:
    for name in ("p", "q"):
        for value in (None, 1, 2):
            properties = {**node.properties, name: value}
            if value is None:
                del properties[name]
            yield replace(node, properties=properties)


def _changed(draw: Random, graph: PropertyGraph) -> PropertyGraph:
    """Return the graph with one random change."""
    all_nodes, links = list(graph.nodes()), list(graph.relationships())
    change = draw.choice(("node", "link", "link", "link", "property", "property", "own", "less", "label", "rename"))
    if change == "node":
        template = draw.choice(all_nodes)
        new = Node(_unused_key(draw, all_nodes), template.labels, _random_properties(draw))
        if all(new.key != node.key for node in all_nodes):
            all_nodes.append(new)
            links += _like(draw, links, template.key, new.key)
    elif change == "link" and links:
        like, kinds = draw.choice(links), {node.key: node.labels for node in all_nodes}
        sources = [node.key for node in all_nodes if node.labels == kinds[like.source]]
        targets = [node.key for node in all_nodes if node.labels == kinds[like.target]]
        links.append(Relationship(like.type, draw.choice(sources), draw.choice(targets), _random_properties(draw, "w")))
    elif change == "property":
        place = draw.randrange(len(all_nodes))
        all_nodes[place] = replace(all_nodes[place], properties=_random_properties(draw))
    elif change == "own" and links:
        place = draw.randrange(len(links))
        links[place] = replace(links[place], properties=_random_properties(draw, "w"))
    elif change == "less" and links:
        del links[draw.randrange(len(links))]
    elif change == "label":
        place = draw.randrange(len(all_nodes))
        all_nodes[place] = replace(all_nodes[place], labels=draw.choice(all_nodes).labels)
    elif change == "rename":
        old = draw.choice(all_nodes).key
        new_key = _unused_key(draw, all_nodes)
        names = {node.key: node.key for node in all_nodes} | {old: new_key}
        all_nodes = [replace(node, key=names[node.key]) for node in all_nodes]
        links = [replace(link, source=names[link.source], target=names[link.target]) for link in links]
    return PropertyGraph.from_rows(all_nodes, links)


def _unused_key(draw: Random, nodes: Sequence[Node]) -> str:
    """Return a key that no node has."""
    used = {node.key for node in nodes}
    key = f"x{draw.randint(1, 9999)}"
    while key in used:
        key = f"x{draw.randint(1, 9999)}"
    return key


def _like(draw: Random, links: list[Relationship], old: str, new: str) -> Iterator[Relationship]:
    """Yield relationships of a new node like those of an old one."""
    for link in links:
        if old in (link.source, link.target) and draw.random() < 0.7:
            source = new if link.source == old else link.source
            target = new if link.target == old else link.target
            yield Relationship(link.type, source, target, _random_properties(draw, "w"))
