"""Questions on property graphs, as a suite."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import OracleError
from graphwalk.graphs.random.generate import generate_graph
from graphwalk.models.players.policy import Policy
from graphwalk.report.declared import SuiteReport
from graphwalk.scoring.extraction import Extraction
from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.store import Database, GraphStore
from graphwalk.suites.drive import Played
from graphwalk.suites.questions.catalogue import QuestionKind, choose_kinds, shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.making import make_tasks
from graphwalk.suites.questions.oracle.by_networkx import rows_by_brute_force
from graphwalk.suites.questions.oracle.rows import same_rows
from graphwalk.suites.questions.par import par
from graphwalk.suites.questions.players.roster import FOLLOW_A_PLAN, PLAYERS, WRITE_QUERIES, player_named
from graphwalk.suites.questions.prompts import no_tools_prompt, tools_prompt, write_cypher_prompt
from graphwalk.suites.questions.scoring import QuestionScore, extract_rows, score_question
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.suite import Opening, Suite, World
from graphwalk.toolbox.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from graphwalk.toolbox.tool import Tool, load_tools
from graphwalk.types.episode import Score, Task, Trajectory
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema

QUERY_TOOLS = ("run_cypher",)
"""What a model that writes queries has."""


class QuestionsSuite(Suite[QuestionsConfig, QuestionTask]):
    """Questions about random graphs (docs/method.md, Questions and Graphs)."""

    name: ClassVar[str] = "questions"
    settings: ClassVar[tuple[str, ...]] = ("tools", "no_tools", "write_cypher")
    task_type: ClassVar[type[Task]] = QuestionTask
    score_type: ClassVar[type[Score]] = QuestionScore
    config_type: ClassVar[type[SuiteConfig]] = QuestionsConfig
    worlds_field: ClassVar[str] = "graphs"
    thing: ClassVar[str] = "graph"
    tools: ClassVar[tuple[str, ...]] = GRAPH_TOOLS
    players: ClassVar[tuple[str, ...]] = PLAYERS
    default_players: ClassVar[tuple[str, ...]] = ("expert", "flawed", "random")

    def __init__(self) -> None:
        self._toolboxes: dict[tuple[str, str, AgentConfig], GraphToolbox] = {}
        """By graph and setting: tools hold nothing of an episode, so that all episodes on a graph share them."""

    def worlds(self, config: QuestionsConfig, seed: int) -> Iterator[World]:
        for entry, spec in enumerate(config.graphs):
            for index in range(spec.count):
                graph = generate_graph(spec, seed, index)
                size = {"nodes": graph.node_count, "relationships": graph.relationship_count}
                facts = {"entry": entry, "index": index, "preset": spec.preset, **size}
                yield World(graph.digest, graph, facts=facts)

    async def tasks(
        self,
        world: World,
        store: GraphStore | None,
        config: QuestionsConfig,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[QuestionTask]:
        assert store is not None
        kinds, number, rows = config.kinds, config.per_question, config.answer_rows
        return await tasks_in(_graph(world), store, kinds, seed=seed, per_question=number, answer_rows=rows)

    def can_play(self, player: str, setting: str, task: QuestionTask | None = None) -> bool:
        """Players walk by tools, or write queries; those that follow a plan need a question that has one."""
        if setting == "write_cypher" or player in WRITE_QUERIES:
            return setting == "write_cypher" and player in WRITE_QUERIES
        return setting == "tools" and (task is None or task.oracles == 2 or player not in FOLLOW_A_PLAN)

    async def opening(
        self,
        task: QuestionTask,
        setting: str,
        world: World,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> Opening:
        if setting == "no_tools":
            return Opening(no_tools_prompt(task.question, _graph(world), agent))
        assert store is not None
        schema = await store.schema(agent.schema_samples)
        writes = setting == "write_cypher"
        toolbox = self._toolboxes.get((world.digest, setting, agent))
        if toolbox is None:
            offered = load_tools(QUERY_TOOLS) if writes else tools
            toolbox = self._toolboxes[world.digest, setting, agent] = GraphToolbox(store, schema, offered, agent)
        prompt = write_cypher_prompt if writes else tools_prompt
        return Opening(prompt(task.question, schema, agent), toolbox)

    def extract(self, task: QuestionTask, reply: str) -> Extraction:
        return extract_rows(task, reply)

    def answer_format(self, task: QuestionTask, agent: AgentConfig = AgentConfig()) -> str:
        return agent.render("graph_format.j2", fields=task.answer_fields)

    def score(self, task: QuestionTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> QuestionScore:
        return score_question(task, setting, trajectory, extraction)

    async def confirm(self, task: QuestionTask, world: World, config: QuestionsConfig) -> str | None:
        """By brute force; only for questions that ship, and no file of the user's that has the name of one."""
        kind = next(kind for kind in config.kinds if kind.name == task.template)
        shipped = shipped_kinds().get(task.template)
        if shipped is None or shipped.file.text != kind.file.text:
            return None
        rows = rows_by_brute_force(task.template, _graph(world), task.parameters)
        if rows is not None and not same_rows(rows, task.gold):
            raise OracleError(f"brute force over networkx finds other rows for {task.template} {task.parameters}")
        return None if rows is None else "networkx"

    def report(self) -> SuiteReport:
        from graphwalk.suites.questions.report.report import REPORT

        return REPORT

    def player(self, name: str, task: QuestionTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        assert schema is not None
        return player_named(name, task, schema, stdlib_random(seed, "policy", task.task_id))

    def texts(self, config: QuestionsConfig) -> Mapping[str, str]:
        """The YAML of every question, and of the tool that write_cypher has in place of all others."""
        tools = {f"tools/{tool.name}.yaml": tool.file_text for tool in load_tools(QUERY_TOOLS)}
        return {**{f"questions/{kind.name}.yaml": kind.file.text for kind in config.kinds}, **tools}


async def tasks_in(
    graph: PropertyGraph, store: GraphStore, kinds: Sequence[QuestionKind], **drawing: Any
) -> list[QuestionTask]:
    """The questions about a graph that a store holds, with their par. `drawing`: see `make_tasks`."""
    schema = await store.schema()
    toolbox = GraphToolbox(store, schema)

    async def expert_par(task: QuestionTask) -> Played:
        return await par(task, schema, toolbox)

    scratch: Database = EmbeddedDatabase()
    return await make_tasks(graph, store, kinds=kinds, par=expert_par, load=scratch.load, **drawing)


async def tasks_on(
    graph: PropertyGraph, *, seed: int, questions: Sequence[str] | None = None, per_question: int = 1
) -> list[QuestionTask]:
    """The questions about a graph, made on the embedded engine; named as in an experiment, None: all that ship."""
    kinds = choose_kinds(questions)
    store = await EmbeddedDatabase().load(graph)
    return await tasks_in(graph, store, kinds, seed=seed, per_question=per_question)


def _graph(world: World) -> PropertyGraph:
    assert world.graph is not None
    return world.graph
