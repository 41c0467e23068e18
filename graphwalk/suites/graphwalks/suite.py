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
from graphwalk.suites.suite import Player, Score, Suite, Task, Tasks
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS

if TYPE_CHECKING:
    from graphwalk.suites.graphwalks.report import GraphwalksAnalysis

Operation = Literal["bfs", "parents"]
LABEL, TYPE = "Node", "EDGE"
_MARKER, _EDGES, _OPERATION = "Here is the graph to operate on:", "The graph has the following edges:", "Operation:"
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
        return {"problems": (), **data} if isinstance(data, dict) and data.get("file") is not None else data

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
    keys = [hashlib.md5(str(n).encode(), usedforsecurity=False).hexdigest()[:10] for n in range(spec.nodes)]
    draw = generator(seed, "graphwalks", spec.nodes, spec.out_degree, index)
    targets = draw.integers(spec.nodes, size=spec.nodes * spec.out_degree).tolist()
    edges = [(keys[place // spec.out_degree], keys[target]) for place, target in enumerate(targets)]
    starts = dict(zip(("bfs", "parents"), draw.integers(spec.nodes, size=2).tolist(), strict=True))
    problems = [Problem(name, keys[starts[name]], spec.depth if name == "bfs" else 1) for name in spec.operations]
    return PropertyGraph.from_edges(edges, LABEL, TYPE), problems


def answer_of(problem: Problem, graph: PropertyGraph) -> list[str]:
    """Return the sorted nodes at exactly the depth, without the start."""
    following = defaultdict[str, set[str]](set)
    for source, target in graph.edges():
        start, end = (source, target) if problem.operation == "bfs" else (target, source)
        following[start].add(end)
    steps = distances(problem.node, problem.depth, following)
    return sorted(key for key, number in steps.items() if number == problem.depth and key != problem.node)


def read_problem(config: GraphwalksConfig, row: Row, number: int) -> tuple[PropertyGraph, Problem] | None:
    """Return the graph and the problem in a row, None if it is not chosen. Raise ValueError if it has none."""
    published = PublishedRow.model_validate(row)
    prompt, kind = published.prompt, published.problem_type
    if len(prompt) > (config.max_chars or len(prompt)):
        return None
    listed, _, rest = prompt.rpartition(_MARKER)[2].partition(_EDGES)[2].rpartition(_OPERATION)
    edges = [_EDGE.fullmatch(line) for line in filter(None, map(str.strip, listed.split("\n")))]
    ends = [(edge[1], edge[2]) for edge in edges if edge is not None]
    words = _WORDS[kind].fullmatch(rest.strip().partition("\n")[0].strip())
    if _MARKER not in prompt or words is None or len(ends) < len(edges) or words[1] not in chain(*ends):
        raise ValueError("its prompt is not understood: expected edges, and an operation on one of their nodes")
    target = tuple(sorted({*published.answer_nodes}))
    return PropertyGraph.from_edges(ends, LABEL, TYPE), Problem(
        kind, words[1], int(words[2] or 1), number, prompt, target
    )


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
        for number, line in enumerate(reversed(visible_text(reply).splitlines())):
            if match := ANSWER.search(line):
                keys = (key.strip(" \t\"'`*") for key in match[1].split(","))
                return Extraction([*dict.fromkeys(filter(None, keys))], "embedded" if number else "strict")
        return Extraction()

    def answer_form(self) -> AnswerForm:
        return keys_as_answer(answer_text)

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("graphwalks_format.j2").strip()

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> GraphwalksScore:
        answer, last_line = extraction.answer, published_answer(trajectory.reply)
        compared = NOTHING_RIGHT if answer is None else compare_sets({*answer}, {*self.target})
        theirs = {*(self.target if self.published_target is None else self.published_target)}
        published_f1 = 0.0 if last_line is None else compare_sets(last_line, theirs).f1
        return GraphwalksScore(**asdict(compared), extraction_stage=extraction.stage, published_f1=published_f1)


def whole_prompt(question: str, instance: GraphInstance, agent: AgentConfig) -> Message:
    """Return the prompt without tools: that of the row, else the edges and the question."""
    assert instance.graph is not None
    text = next((problem.prompt for problem in instance.source or ()), None)
    if text is None:
        edges = "\n".join(f"{source} -> {target}" for source, target in instance.graph.edges())
        text = agent.render("graphwalks_no_tools.j2", edges=edges, question=question).strip()
    return Message("user", text)


def answer_text(keys: Iterable[str]) -> str:
    return f"Final Answer: [{', '.join(keys)}]"


def published_answer(reply: str) -> set[str] | None:
    """Return the nodes in the last line by the published rule, or None; blank lines at the end are ignored."""
    match = _PUBLISHED.search(reply.rstrip().rpartition("\n")[2])
    return match and {key.strip() for key in match[1].split(",") if key.strip()}


def search(task: GraphwalksTask, depth: int) -> Steps[list[str]]:
    """Return the nodes at a depth; the nodes of a level are looked up in parallel calls."""
    side = "outgoing" if task.template == "bfs" else "incoming"
    levels = [{str(task.parameters["node"])}]
    for _ in range(depth):
        results = yield from read([neighborhood("Node", "key", key) for key in sorted(levels[-1])])
        rows = (row for rows in results for row in rows if row.get("direction", side) == side)
        levels.append({row["neighbor_properties"]["key"] for row in rows}.difference(*levels))
    return sorted(levels[-1] - levels[0])


def expert(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Search to the depth and answer with the nodes there."""
    return answer_text((yield from search(task, int(task.parameters["depth"]))))


def any_nodes(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Stop at any depth and name any nodes there."""
    keys = yield from search(task, random.randint(1, int(task.parameters["depth"])))
    return answer_text(random.sample(keys, random.randint(0, len(keys))))


EXPERT = Player(expert, default=True)
PLAYERS: Mapping[str, Player[GraphwalksTask]] = {
    "expert": EXPERT,
    "flawed": EXPERT.changed(flawed),
    "random": Player(any_nodes, default=True),
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
    players = PLAYERS

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
            for graph, problem in usable_rows(
                config.file, tuple(PublishedRow.model_fields), partial(read_problem, config)
            ):
                yield GraphInstance.of(graph, [problem], {"name": config.file.name, "row": problem.row})

    async def tasks(
        self, about: LoadedGraph, config: GraphwalksConfig, seed: int, agent: AgentConfig
    ) -> Tasks[GraphwalksTask]:
        """Return a task per problem. Raise OracleError if Cypher finds other nodes than the evaluator."""
        assert about.store is not None
        instance, tasks = about.instance, list[GraphwalksTask]()
        for problem in instance.source:
            target, by_cypher = answer_of(problem, about.graph), await nodes_by_cypher(problem, about.store)
            values = {"node": problem.node, "depth": problem.depth}
            question = agent.render("graphwalks_question.j2", operation=problem.operation, **values).strip()
            place = problem.row or f"{instance.facts['entry']}-{instance.facts['index']}"
            task_id = f"{instance.digest[:12]}-{problem.operation}-{place}"
            if by_cypher != target:
                raise OracleError(
                    f"Cypher ({about.store.kind}) finds other nodes than the evaluator: {task_id} {values}"
                )
            differs = problem.target not in (None, tuple(target))
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
                published_target=list(problem.target or ()) if differs else None,
            )
            tasks.append(task)
        differing = (task.row for task in tasks if task.published_target is not None)
        return Tasks(
            tasks, notes=[f"Row {row}: the target differs from the file's; both are scored." for row in differing]
        )


async def nodes_by_cypher(problem: Problem, store: GraphStore) -> list[str]:
    """Return the nodes that the store finds, with one query per level."""
    ends = {"near": "a", "far": "b"} if problem.operation == "bfs" else {"near": "b", "far": "a"}
    query = store.render(_LEVEL, {"label": LABEL, "type": TYPE, **ends})
    levels = [{problem.node}]
    while levels[-1] and len(levels) <= problem.depth:
        rows = await store.run(query, {"keys": sorted(levels[-1])})
        levels.append({str(row["key"]) for row in rows}.difference(*levels))
    return sorted(levels[-1] - levels[0])
