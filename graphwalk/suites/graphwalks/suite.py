"""Suite of OpenAI's benchmark GraphWalks: read the graph, or walk it (docs/method.md, GraphWalks)."""

from collections.abc import Iterable, Iterator
from functools import partial

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.files.bulk import usable_rows
from graphwalk.reports.measures import declared_report
from graphwalk.reports.suite_report import Grouping, ResultRecord, SuiteReport
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import GraphStore
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS, graph_prompt
from graphwalk.suites.graphwalks.config import GraphwalksConfig
from graphwalk.suites.graphwalks.players import PLAYERS, expert
from graphwalk.suites.graphwalks.problems import COLUMNS, LABEL, TYPE, Problem, answer_of, generated, read_problem
from graphwalk.suites.graphwalks.task import GraphwalksScore, GraphwalksTask
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.reference import drive, expert_result
from graphwalk.suites.suite import Suite
from graphwalk.suites.task import Tasks
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS

_SHORT, _BANDS = 320_000, ("0–128k", "256k–1M")
"""Characters of the longest prompt of 0–128k tokens, and the published bands; no prompt has 128k to 256k tokens."""
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
        """Return a task per problem. Raise OracleError if Cypher or the expert finds other nodes than the evaluator."""
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
            _agree(f"Cypher ({about.store.kind})", await _by_cypher(problem, about.store), task)
            policy = expert(task, "tools", None, stdlib_random(seed, "policy", task.task_id))
            prompt = await graph_prompt(task.question, about, "tools", AgentConfig())
            assert prompt.toolbox is not None
            walk = await drive(policy, prompt.toolbox, prompt.messages)
            _agree("the expert", task.read(walk.answer).answer, task)
            characters = len(task.whole_prompt(about.instance, agent).content or "")
            tasks.append(walk.added_to(task).model_copy(update={"prompt_chars": characters}))
            if task.published_target is not None:
                notes.append(f"Row {task.row}: the target differs from the file's; both are scored.")
        return Tasks(tasks, notes=notes)

    def report(self) -> SuiteReport:
        size = Grouping("nodes", "graph size", lambda result: result.get("graph", {}).get("nodes"))
        return declared_report(
            self.name,
            GraphwalksScore,
            groupings=(Grouping("problem", "operation and size of the prompt", _problem), size),
            baselines=partial(expert_result, score=dict.fromkeys(("correct", "precision", "recall", "f1"), 1)),
        )


async def _by_cypher(problem: Problem, store: GraphStore) -> set[str]:
    """Return the nodes that the store finds, with one query per level."""
    ends = {"near": "a", "far": "b"} if problem.operation == "bfs" else {"near": "b", "far": "a"}
    query = store.render(_LEVEL, {"label": LABEL, "type": TYPE, **ends})
    levels = [{problem.node}]
    while levels[-1] and len(levels) <= problem.depth:
        rows = await store.run(query, {"keys": sorted(levels[-1])})
        levels.append({str(row["key"]) for row in rows}.difference(*levels))
    return levels[-1] - levels[0]


def _problem(result: ResultRecord) -> str:
    return f"{result['task']['template']} {_BANDS[result['task']['prompt_chars'] > _SHORT]}"


def _agree(oracle: str, nodes: Iterable[str], task: GraphwalksTask) -> None:
    if sorted(nodes) != task.target:
        raise OracleError(f"{oracle} finds other nodes than the evaluator: {task.task_id} {task.parameters}")
