"""Suite of OpenAI's benchmark GraphWalks: read the graph, or walk it (docs/method.md, GraphWalks)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.evaluation.extraction import Extraction, visible_text
from graphwalk.evaluation.rows import NOTHING_RIGHT, compare_sets
from graphwalk.files.bulk import usable_rows
from graphwalk.stores.base import GraphStore
from graphwalk.suites.graph_suite import GraphSuite
from graphwalk.suites.graphwalks.config import GraphwalksConfig
from graphwalk.suites.graphwalks.problems import COLUMNS, LABEL, TYPE, Problem, answer_of, generated, read_problem
from graphwalk.suites.graphwalks.report import GraphwalksPresentation
from graphwalk.suites.graphwalks.score import ANSWER, ErrorClass, GraphwalksScore, GraphwalksTask, published_answer
from graphwalk.suites.graphwalks.scripted import GraphwalksAgents
from graphwalk.suites.suite import GraphInstance, Verification
from graphwalk.types.chat import Message
from graphwalk.types.episode import Trajectory

_LEVEL = """
MATCH (a:{{ label | label }})-[:{{ type | type }}]->(b:{{ label | label }}) WHERE {{ near | key_of }} IN $keys
RETURN DISTINCT {{ far | key_of }} AS key
"""


class GraphwalksVerification(Verification[GraphwalksConfig, GraphwalksTask]):
    async def confirm(self, task: GraphwalksTask, instance: GraphInstance, config: GraphwalksConfig) -> str | None:
        import networkx as nx

        assert instance.graph is not None
        graph = nx.DiGraph(instance.graph.edges())
        graph = graph if task.template == "bfs" else graph.reverse()
        _agree("networkx", nx.descendants_at_distance(graph, task.parameters["node"], task.parameters["depth"]), task)
        return "networkx"


class GraphwalksSuite(GraphSuite[GraphwalksConfig, GraphwalksTask]):
    """Breadth-first searches and parents, on generated graphs and on those of the data set openai/graphwalks."""

    name = "graphwalks"
    config_type = GraphwalksConfig
    task_type = GraphwalksTask
    score_type = GraphwalksScore
    graphs_field = "problems"
    thing = "graphwalk"
    turn_limit = 200
    agents = GraphwalksAgents()
    presentation = GraphwalksPresentation()
    verification = GraphwalksVerification()

    def graphs(self, config: GraphwalksConfig, seed: int) -> Iterator[GraphInstance]:
        """Yield the graphs; the source of each is the list of its problems."""
        for entry, spec in enumerate(config.problems):
            for index in range(spec.count):
                graph, problems = generated(spec, seed, index)
                yield GraphInstance.of(graph, problems, {"entry": entry, "index": index, "out_degree": spec.out_degree})
        if config.file is not None:
            bad, rows = usable_rows(config.file, COLUMNS, partial(read_problem, config), skip=config.skip_bad_rows)
            for graph, problem in rows:
                left_out = {"left_out": bad} if bad else {}
                yield GraphInstance.of(graph, [problem], {"name": config.file.name, "row": problem.row, **left_out})
                bad = {}

    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: GraphwalksConfig,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[GraphwalksTask]:
        """Return a task per problem. Raise OracleError if Cypher or the expert finds other nodes than the evaluator."""
        assert store is not None
        assert instance.graph is not None
        tasks = []
        for problem in instance.source:
            gold = answer_of(problem, instance.graph)
            values = {"node": problem.node, "depth": problem.depth}
            place = problem.row or f"{instance.facts['entry']}-{instance.facts['index']}"
            task = GraphwalksTask(
                task_id=f"{instance.digest[:12]}-{problem.operation}-{place}",
                suite=self.name,
                template=problem.operation,
                question=agent.render("graphwalks_question.j2", operation=problem.operation, **values).strip(),
                parameters=values,
                gold=gold,
                gold_size=len(gold),
                seed=seed,
                graph_digest=instance.digest,
                row=problem.row,
                published_gold=None if problem.target in (None, tuple(gold)) else list(problem.target),
            )
            _agree(f"Cypher ({store.kind})", await _by_cypher(problem, store), task)
            walk = await self.reference_walk(task, store, self.agents.policy("expert", task, "tools", None, seed))
            _agree("the expert", self.extract(task, walk.answer).answer, task)
            characters = len(self.no_tools_prompt(task, instance, agent)[0].content or "")
            tasks.append(walk.added_to(task).model_copy(update={"prompt_chars": characters}))
        return tasks

    def no_tools_prompt(self, task: GraphwalksTask, instance: GraphInstance, agent: AgentConfig) -> tuple[Message, ...]:
        """Return the prompt of the data set as it is, or our own words."""
        assert instance.graph is not None
        text = next((problem.prompt for problem in instance.source or ()), None)
        if text is None:
            edges = "\n".join(f"{source} -> {target}" for source, target in instance.graph.edges())
            text = agent.render("graphwalks_no_tools.j2", edges=edges, question=task.question).strip()
        return (Message("user", text),)

    def extract(self, task: GraphwalksTask, reply: str) -> Extraction:
        """Extract the last line with `Final Answer: […]`; "strict" if it is the last line of the reply."""
        for number, line in enumerate(reversed(visible_text(reply).splitlines())):
            if match := ANSWER.search(line):
                keys = (key.strip(" \t\"'`*") for key in match[1].split(","))
                return Extraction([*dict.fromkeys(filter(None, keys))], "embedded" if number else "strict")
        return Extraction()

    def answer_format(self, task: GraphwalksTask, agent: AgentConfig = AgentConfig()) -> str:
        return agent.render("graphwalks_format.j2").strip()

    def score(
        self, task: GraphwalksTask, setting: str, trajectory: Trajectory, extraction: Extraction
    ) -> GraphwalksScore:
        target, last_line = {*task.gold}, published_answer(trajectory.reply)
        theirs = {*(task.gold if task.published_gold is None else task.published_gold)}
        answer: set[str] | None = None if extraction.answer is None else {*extraction.answer}
        compared = NOTHING_RIGHT if answer is None else compare_sets(answer, target)
        error: ErrorClass | None = None
        if answer is None:
            error = "wrong_form" if visible_text(trajectory.reply) else "no_answer"
        elif answer != target:
            error = "extra_nodes" if answer > target else "missing_nodes" if answer < target else "other_nodes"
        return GraphwalksScore(
            **asdict(compared),
            extraction_stage=extraction.stage,
            published_f1=0.0 if last_line is None else compare_sets(last_line, theirs).f1,
            last_line_correct=last_line == target,
            error_class=error,
        )

    def notes(self, tasks: Sequence[GraphwalksTask]) -> Iterator[str]:
        if rows := [str(task.row) for task in tasks if task.published_gold is not None]:
            yield f"{len(rows)} of {len(tasks)} targets differ from the file's; both are scored: row {', '.join(rows)}."


async def _by_cypher(problem: Problem, store: GraphStore) -> set[str]:
    """Return the nodes that the store finds, with one query per level."""
    ends = {"near": "a", "far": "b"} if problem.operation == "bfs" else {"near": "b", "far": "a"}
    query = store.render(_LEVEL, {"label": LABEL, "type": TYPE, **ends})
    levels = [{problem.node}]
    while levels[-1] and len(levels) <= problem.depth:
        rows = await store.run(query, {"keys": sorted(levels[-1])})
        levels.append({str(row["key"]) for row in rows}.difference(*levels))
    return levels[-1] - levels[0]


def _agree(oracle: str, nodes: Iterable[str], task: GraphwalksTask) -> None:
    if sorted(nodes) != task.gold:
        raise OracleError(f"{oracle} finds other nodes than the evaluator: {task.task_id} {task.parameters}")
