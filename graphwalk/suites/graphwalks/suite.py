"""Suite of OpenAI's benchmark GraphWalks: read the graph, or walk it (docs/method.md, GraphWalks).

Its problems are generated, or read from the data set openai/graphwalks.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, Field, PositiveInt, model_validator

from graphwalk.agent.prompt import AnswerForm, Prompt, keys_as_answer
from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.config.strict import ExistingFile, Spec, SuiteConfig
from graphwalk.errors import OracleError
from graphwalk.files.bulk import Row, usable_rows
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import Message
from graphwalk.models.scripted import Policy
from graphwalk.models.trajectory import Trajectory
from graphwalk.seeds import generator
from graphwalk.stores.base import GraphStore
from graphwalk.suites.extraction import Extraction, visible_text
from graphwalk.suites.flawed import flawed
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS, graph_prompt, query_texts
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.graph_index import distances
from graphwalk.suites.questions.walker import Steps, neighborhood, read
from graphwalk.suites.rows import NOTHING_RIGHT, compare_sets
from graphwalk.suites.suite import Score, ScriptedAgent, Suite, Task, Tasks
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS

if TYPE_CHECKING:
    from graphwalk.suites.graphwalks.report import GraphwalksAnalysis

Operation = Literal["bfs", "parents"]
LABEL = "Node"
TYPE = "EDGE"
_MARKER = "Here is the graph to operate on:"
_EDGES = "The graph has the following edges:"
_OPERATION = "Operation:"
_EDGE = re.compile(r"([^\s,\[\]]+) -> ([^\s,\[\]]+)")
_WORDS = {
    "bfs": re.compile(
        r"Perform a BFS from node (\S+) (?:with|and return only the nodes at exactly) depth (\d{1,6})\b.*"
    ),
    "parents": re.compile(r"Find the parents of node (\S+?)()\.?"),
}


class ProblemSpec(Spec):
    """Random graphs of `nodes` nodes with exactly `out_degree` edges from each, and one problem per operation."""

    nodes: int = Field(default=40, ge=1, le=100_000)
    """Nodes of the graph."""
    out_degree: int = Field(default=3, ge=1, le=50)
    """Edges from each node; parallel edges and self-loops occur."""
    depth: PositiveInt = 2
    """Depth of the breadth-first search."""
    operations: tuple[Operation, ...] = Field(default=("bfs", "parents"), min_length=1)
    """Operations on each graph: breadth-first search, or parents of a node."""


class GraphwalksConfig(SuiteConfig):
    """The suite `graphwalks`: a breadth-first search, or the parents of a node, on generated or published graphs."""

    graphs_field: ClassVar[str] = "problems"

    name: Literal["graphwalks"] = "graphwalks"
    problems: tuple[ProblemSpec, ...] = (ProblemSpec(count=5),)
    """Problems to generate; by default none if `file` is set."""
    file: ExistingFile | None = None
    """Published problems: a .parquet or .jsonl file of the data set openai/graphwalks."""
    max_chars: PositiveInt | None = None
    """Of a file: only prompts of at most this number of characters."""

    @model_validator(mode="before")
    @classmethod
    def _generate_nothing_beside_a_file(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("file") is not None:
            return {"problems": (), **data}
        return data

    def texts(self) -> Mapping[str, str]:
        return query_texts()


class PublishedRow(BaseModel):
    """A row of the data set openai/graphwalks."""

    prompt: str
    answer_nodes: list[str]
    problem_type: Operation


@dataclass(frozen=True)
class Problem:
    """An operation on a graph; `row` (from 1 on), `prompt` and `target` are those of a published problem."""

    operation: Operation
    node: str
    depth: int
    row: int | None = None
    prompt: str | None = None
    target: tuple[str, ...] | None = None


def generated(spec: ProblemSpec, seed: int, index: int) -> tuple[PropertyGraph, list[Problem]]:
    """Return a random graph, its targets uniform over all nodes, and one problem per operation on a random node."""
    # cfcd208495, c4ca4238a0, …, as the keys of the data set
    keys = [hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()[:10] for number in range(spec.nodes)]
    draw = generator(seed, "graphwalks", spec.nodes, spec.out_degree, index)
    targets = draw.integers(spec.nodes, size=spec.nodes * spec.out_degree).tolist()
    edges = [(keys[place // spec.out_degree], keys[target]) for place, target in enumerate(targets)]

    # Both are drawn whatever the operations are, so that these do not change a problem.
    bfs_start, parents_start = draw.integers(spec.nodes, size=2).tolist()
    problems = []
    for operation in spec.operations:
        if operation == "bfs":
            problems.append(Problem("bfs", keys[bfs_start], spec.depth))
        else:
            problems.append(Problem("parents", keys[parents_start], 1))
    return PropertyGraph.from_edges(edges, LABEL, TYPE), problems


def answer_of(problem: Problem, graph: PropertyGraph) -> list[str]:
    """Return the sorted nodes at exactly the depth, without the start."""
    following: defaultdict[str, set[str]] = defaultdict(set)
    for source, target in graph.edges():
        if problem.operation == "bfs":
            following[source].add(target)
        else:
            following[target].add(source)
    steps = distances(problem.node, problem.depth, following)
    return sorted(key for key, number in steps.items() if number == problem.depth and key != problem.node)


def read_problem(config: GraphwalksConfig, row: Row, number: int) -> tuple[PropertyGraph, Problem] | None:
    """Return the graph and the problem in a row, None if it is not chosen. Raise ValueError if it has none.

    A prompt has an example before the marker. It ends with

    ```
    Here is the graph to operate on:
    The graph has the following edges:
    c4ca -> c81e
    cfcd -> c4ca

    Operation:
    Perform a BFS from node cfcd with depth 1.
    ```
    """
    published = PublishedRow.model_validate(row)
    prompt = published.prompt
    if config.max_chars is not None and len(prompt) > config.max_chars:
        return None
    _, marker, graph_text = prompt.rpartition(_MARKER)
    _, _, after_title = graph_text.partition(_EDGES)
    edge_lines, _, operation_text = after_title.rpartition(_OPERATION)
    edges = _read_edges(edge_lines)
    first_line, _, _ = operation_text.strip().partition("\n")
    words = _WORDS[published.problem_type].fullmatch(first_line.strip())
    if not marker or edges is None or words is None or not any(words[1] in edge for edge in edges):
        raise ValueError("its prompt is not understood: expected edges, and an operation on one of their nodes")

    target = tuple(sorted(set(published.answer_nodes)))
    problem = Problem(published.problem_type, words[1], int(words[2] or 1), number, prompt, target)
    return PropertyGraph.from_edges(edges, LABEL, TYPE), problem


def _read_edges(text: str) -> list[tuple[str, str]] | None:
    """Return the edges, one a line; None if a line is something else."""
    edges = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        edge = _EDGE.fullmatch(line.strip())
        if edge is None:
            return None
        edges.append((edge[1], edge[2]))
    return edges


ANSWER = re.compile(r"final answer:[\s*_`]*\[(.*)\]", re.IGNORECASE)
_PUBLISHED = re.compile(r"Final Answer: ?\[(.*)\]")
_LEVEL = """
MATCH (a:{{ label | label }})-[:{{ type | type }}]->(b:{{ label | label }}) WHERE {{ near | key_of }} IN $keys
RETURN DISTINCT {{ far | key_of }} AS key
"""


class GraphwalksScore(Score):
    """The score of the nodes in the last line that has `Final Answer: […]`.

    `published_f1` is from the last line alone and against the target of the file; two empty sets give 1, a reply
    without the line 0.
    """

    published_f1: float = Field(ge=0, le=1)


class GraphwalksTask(Task):
    """A problem with its sorted target. `prompt_chars`: length of its prompt without tools."""

    template: Operation
    target: list[str]
    prompt_chars: int = 0
    row: int | None = None
    """Row of the file, from 1 on."""
    published_target: list[str] | None = None
    """Target of the file, if it differs."""

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        """Return the prompt of a graph with tools, or that of the data set as it is, or our own words."""
        if setting != "no_tools":
            return await graph_prompt(self.question, about, setting, agent)
        return Prompt((whole_prompt(self.question, about.instance, agent),))

    def read(self, reply: str) -> Extraction:
        """Extract the last line with `Final Answer: […]`; "strict" if it is the last line of the reply."""
        lines = visible_text(reply).splitlines()
        for lines_after, line in enumerate(reversed(lines)):
            match = ANSWER.search(line)
            if match is None:
                continue
            # Final Answer: ["c4ca", 'c81e', cfcd]
            items = [item.strip(" \t\"'`*") for item in match[1].split(",")]
            distinct = dict.fromkeys(item for item in items if item)
            return Extraction(list(distinct), "embedded" if lines_after else "strict")
        return Extraction()

    def answer_form(self) -> AnswerForm:
        return keys_as_answer(final_answer_line)

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("graphwalks_format.j2").strip()

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> GraphwalksScore:
        compared = NOTHING_RIGHT
        if extraction.answer is not None:
            compared = compare_sets(set(extraction.answer), set(self.target))

        published_target = self.target
        if self.published_target is not None:
            published_target = self.published_target
        published_f1 = 0.0
        last_line = published_answer(trajectory.reply)
        if last_line is not None:
            published_f1 = compare_sets(last_line, set(published_target)).f1
        return GraphwalksScore(**asdict(compared), extraction_stage=extraction.stage, published_f1=published_f1)


def whole_prompt(question: str, instance: GraphInstance, agent: AgentConfig) -> Message:
    """Return the prompt without tools: that of the row, else the edges and the question."""
    assert instance.graph is not None
    text = next((problem.prompt for problem in instance.source or ()), None)
    if text is None:
        edges = "\n".join(f"{source} -> {target}" for source, target in instance.graph.edges())
        text = agent.render("graphwalks_no_tools.j2", edges=edges, question=question).strip()
    return Message("user", text)


def final_answer_line(keys: Iterable[str]) -> str:
    return f"Final Answer: [{', '.join(keys)}]"


def published_answer(reply: str) -> set[str] | None:
    """Return the nodes in the last line by the published rule, or None; blank lines at the end are ignored."""
    _, _, last_line = reply.rstrip().rpartition("\n")
    match = _PUBLISHED.search(last_line)
    if match is None:
        return None
    return {key.strip() for key in match[1].split(",") if key.strip()}


def search(task: GraphwalksTask, depth: int) -> Steps[list[str]]:
    """Return the nodes at a depth; the nodes of a level are looked up in parallel calls."""
    direction = "outgoing" if task.template == "bfs" else "incoming"
    start = str(task.parameters["node"])
    reached = {start}
    level = {start}
    for _ in range(depth):
        results = yield from read([neighborhood("Node", "key", key) for key in sorted(level)])
        level = set()
        for row in chain.from_iterable(results):
            # Rows have no direction where the agent's tools do not show it.
            if row.get("direction", direction) == direction:
                level.add(row["neighbor_properties"]["key"])
        level -= reached
        reached |= level
    return sorted(level - {start})


def expert(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Search to the depth and answer with the nodes there."""
    nodes = yield from search(task, int(task.parameters["depth"]))
    return final_answer_line(nodes)


def any_nodes(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Stop at any depth and name any nodes there."""
    keys = yield from search(task, random.randint(1, int(task.parameters["depth"])))
    return final_answer_line(random.sample(keys, random.randint(0, len(keys))))


EXPERT = ScriptedAgent(expert, default=True)
SCRIPTED_AGENTS: Mapping[str, ScriptedAgent[GraphwalksTask]] = {
    "expert": EXPERT,
    "flawed": EXPERT.changed(flawed),
    "random": ScriptedAgent(any_nodes, default=True),
}


class GraphwalksSuite(Suite[GraphwalksConfig, GraphwalksTask]):
    """Breadth-first searches and parents, on generated graphs and on those of the data set openai/graphwalks."""

    name = "graphwalks"
    settings = GRAPH_SETTINGS
    config_type = GraphwalksConfig
    task_type = GraphwalksTask
    score_type = GraphwalksScore
    tools = GRAPH_TOOLS
    turn_limit = 200
    scripted_agents = SCRIPTED_AGENTS

    @classmethod
    def analysis_type(cls) -> "type[GraphwalksAnalysis]":
        from graphwalk.suites.graphwalks.report import GraphwalksAnalysis

        return GraphwalksAnalysis

    def graphs(self, config: GraphwalksConfig, seed: int) -> Iterator[GraphInstance]:
        """Yield the graphs; the source of each is the list of its problems."""
        for entry, spec in enumerate(config.problems):
            for index in range(spec.count):
                graph, problems = generated(spec, seed, index)
                yield GraphInstance.of(graph, problems, {"entry": entry, "index": index, "out_degree": spec.out_degree})
        if config.file is not None:
            columns = tuple(PublishedRow.model_fields)
            for graph, problem in usable_rows(config.file, columns, partial(read_problem, config)):
                yield GraphInstance.of(graph, [problem], {"name": config.file.name, "row": problem.row})

    async def tasks(
        self, about: LoadedGraph, config: GraphwalksConfig, seed: int, agent: AgentConfig
    ) -> Tasks[GraphwalksTask]:
        """Return a task per problem. Raise OracleError if Cypher finds other nodes than the evaluator."""
        assert about.store is not None
        instance = about.instance
        tasks: list[GraphwalksTask] = []
        notes: list[str] = []
        for problem in instance.source:
            target = answer_of(problem, about.graph)
            by_cypher = await nodes_by_cypher(problem, about.store)
            values = {"node": problem.node, "depth": problem.depth}
            question = agent.render("graphwalks_question.j2", operation=problem.operation, **values).strip()
            place = problem.row or f"{instance.facts['entry']}-{instance.facts['index']}"
            task_id = f"{instance.digest[:12]}-{problem.operation}-{place}"
            if by_cypher != target:
                raise OracleError(
                    f"Cypher ({about.store.kind}) finds other nodes than the evaluator: {task_id} {values}"
                )
            published_target = None
            if problem.target is not None and problem.target != tuple(target):
                published_target = list(problem.target)
                notes.append(f"Row {problem.row}: the target differs from the file's; both are scored.")
            task = GraphwalksTask(
                task_id=task_id,
                suite=self.name,
                template=problem.operation,
                question=question,
                parameters=values,
                target=target,
                target_size=len(target),
                seed=seed,
                graph_digest=instance.digest,
                prompt_chars=len(whole_prompt(question, instance, agent).content or ""),
                row=problem.row,
                published_target=published_target,
            )
            tasks.append(task)
        return Tasks(tasks, notes=notes)


async def nodes_by_cypher(problem: Problem, store: GraphStore) -> list[str]:
    """Return the nodes that the store finds, with one query per level."""
    near, far = ("a", "b") if problem.operation == "bfs" else ("b", "a")
    query = store.render(_LEVEL, {"label": LABEL, "type": TYPE, "near": near, "far": far})
    reached = {problem.node}
    level = {problem.node}
    for _ in range(problem.depth):
        if not level:
            break
        rows = await store.run(query, {"keys": sorted(level)})
        level = {str(row["key"]) for row in rows} - reached
        reached |= level
    return sorted(level - {problem.node})
