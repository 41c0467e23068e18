"""Suite of OpenAI's benchmark GraphWalks: read the graph, or walk it (docs/method.md, GraphWalks)."""

from collections.abc import Iterable, Iterator
from functools import partial

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.files.bulk import usable_rows
from graphwalk.stores.base import GraphStore
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS
from graphwalk.suites.graphwalks.config import GraphwalksConfig
from graphwalk.suites.graphwalks.players import PLAYERS
from graphwalk.suites.graphwalks.problems import COLUMNS, LABEL, TYPE, Problem, answer_of, generated, read_problem
from graphwalk.suites.graphwalks.task import GraphwalksScore, GraphwalksTask
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.suite import Suite
from graphwalk.suites.task import Tasks
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS

_LEVEL = """
MATCH (a:{{ label | label }})-[:{{ type | type }}]->(b:{{ label | label }}) WHERE {{ near | key_of }} IN $keys
RETURN DISTINCT {{ far | key_of }} AS key
"""


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

    def graphs(self, config: GraphwalksConfig, seed: int) -> Iterator[GraphInstance]:
        """Yield the graphs; the source of each is the list of its problems."""
        for entry, spec in enumerate(config.problems):
            for index in range(spec.count):
                graph, problems = generated(spec, seed, index)
                yield GraphInstance.of(graph, problems, {"entry": entry, "index": index, "out_degree": spec.out_degree})
        if config.file is not None:
            for graph, problem in usable_rows(config.file, COLUMNS, partial(read_problem, config)):
                yield GraphInstance.of(graph, [problem], {"name": config.file.name, "row": problem.row})

    async def tasks(
        self, about: LoadedGraph, config: GraphwalksConfig, seed: int, agent: AgentConfig
    ) -> Tasks[GraphwalksTask]:
        """Return a task per problem. Raise OracleError if Cypher finds other nodes than the evaluator."""
        assert about.store is not None
        tasks, notes = [], []
        for problem in about.instance.source:
            target = answer_of(problem, about.graph)
            values = {"node": problem.node, "depth": problem.depth}
            place = problem.row or f"{about.instance.facts['entry']}-{about.instance.facts['index']}"
            task = GraphwalksTask(
                task_id=f"{about.instance.digest[:12]}-{problem.operation}-{place}",
                suite=self.name,
                template=problem.operation,
                question=agent.render("graphwalks_question.j2", operation=problem.operation, **values).strip(),
                parameters=values,
                target=target,
                target_size=len(target),
                seed=seed,
                graph_digest=about.instance.digest,
                row=problem.row,
                published_target=None if problem.target in (None, tuple(target)) else list(problem.target),
            )
            agree(f"Cypher ({about.store.kind})", await _by_cypher(problem, about.store), task)
            characters = len(task.whole_prompt(about.instance, agent).content or "")
            tasks.append(task.model_copy(update={"prompt_chars": characters}))
            if task.published_target is not None:
                notes.append(f"Row {task.row}: the target differs from the file's; both are scored.")
        return Tasks(tasks, notes=notes)


async def _by_cypher(problem: Problem, store: GraphStore) -> set[str]:
    """Return the nodes that the store finds, with one query per level."""
    ends = {"near": "a", "far": "b"} if problem.operation == "bfs" else {"near": "b", "far": "a"}
    query = store.render(_LEVEL, {"label": LABEL, "type": TYPE, **ends})
    levels = [{problem.node}]
    while levels[-1] and len(levels) <= problem.depth:
        rows = await store.run(query, {"keys": sorted(levels[-1])})
        levels.append({str(row["key"]) for row in rows}.difference(*levels))
    return levels[-1] - levels[0]


def agree(oracle: str, nodes: Iterable[str], task: GraphwalksTask) -> None:
    if sorted(nodes) != task.target:
        raise OracleError(f"{oracle} finds other nodes than the evaluator: {task.task_id} {task.parameters}")
