"""The tasks about one graph: generated, somebody's own, or the twin of one; with the par of each."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.environment import Environment
from graphwalk.graphs.twin.making import Twin
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.reading_out import read_source
from graphwalk.stores.schema_queries import schema_of
from graphwalk.stores.sources import open_source
from graphwalk.stores.store import Database, GraphStore
from graphwalk.suites.questions.catalogue import QuestionKind, choose_kinds
from graphwalk.suites.questions.drawing import OWN, generated_effort
from graphwalk.suites.questions.making import LeaveOut, Par, TaskMaker, make_tasks
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.own_worlds import bounds_of
from graphwalk.suites.questions.par import ExpertPar
from graphwalk.suites.questions.row_bounds import ANY_ROWS, RowBounds
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tools_in_memory.tools import ToolsInMemory, can_be_walked_in_memory
from graphwalk.suites.questions.twin_questions import mapped_parameters, same_answer
from graphwalk.toolbox.graph_toolbox import GraphToolbox
from graphwalk.types.graph import PropertyGraph


async def tasks_in(
    graph: PropertyGraph,
    store: GraphStore,
    kinds: Sequence[QuestionKind],
    agent: AgentConfig = AgentConfig(),
    **drawing: Any,
) -> list[QuestionTask]:
    """The questions about a graph that a store holds, with their par. `drawing`: see `make_tasks`."""
    with _no_collection():  # until the index is freed, too
        return await _tasks_in(graph, store, kinds, agent, {"effort": generated_effort(graph), **drawing})


@contextmanager
def _no_collection() -> Iterator[None]:
    """Turn the garbage collector off: with millions of rows in memory, it takes an eighth of the time of planning."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


async def _tasks_in(
    graph: PropertyGraph,
    store: GraphStore,
    kinds: Sequence[QuestionKind],
    agent: AgentConfig,
    how: Mapping[str, Any],
) -> list[QuestionTask]:
    scratch: Database = EmbeddedDatabase()
    index = GraphIndex(graph)
    par = _par_on(store, index, agent)
    return await make_tasks(graph, store, kinds=kinds, index=index, par=par, load=scratch.load, **how)


async def own_tasks(
    graph: PropertyGraph,
    store: GraphStore,
    kinds: Sequence[QuestionKind],
    *,
    seed: int,
    leave_out: LeaveOut,
    per_question: int = 1,
    answer_rows: Sequence[RowBounds] = (ANY_ROWS,),
    agent: AgentConfig = AgentConfig(),
) -> list[QuestionTask]:
    """The questions that an own graph can host; `leave_out` is told of the others."""
    scratch: Database = EmbeddedDatabase()
    index = GraphIndex(graph)
    return await make_tasks(
        graph,
        store,
        kinds=kinds,
        index=index,
        seed=seed,
        per_question=per_question,
        answer_rows=tuple(map(bounds_of, answer_rows)),
        effort=OWN,
        leave_out=leave_out,
        par=await _own_par(index, store, scratch, agent),
        load=scratch.load,
    )


async def twin_tasks(
    twin: Twin,
    originals: Sequence[QuestionTask],
    store: GraphStore,
    kinds: Sequence[QuestionKind],
    *,
    seed: int,
    leave_out: LeaveOut,
    agent: AgentConfig = AgentConfig(),
) -> list[QuestionTask]:
    """The same questions on the twin that `store` holds, in the names of the twin.

    A question of the user's own that writes names or values into its text cannot be asked: `leave_out` is told.
    """
    scratch: Database = EmbeddedDatabase()
    twins, index = GraphIndex(twin.graph), GraphIndex(twin.original)
    par_of = await _own_par(twins, store, scratch, agent)
    maker = TaskMaker(twin.graph, store, seed=seed, index=twins, par=par_of, load=scratch.load)
    by_name = {kind.name: kind for kind in kinds}
    tasks = []
    for original in originals:
        kind = by_name[original.template]
        parameters = mapped_parameters(kind.template, original.parameters, index, twin)
        number = int(original.task_id.rpartition("-")[2])
        task = await maker.task(kind, number, parameters)
        if same_answer(original, task):
            tasks.append(task.model_copy(update={"twin_of": original.task_id, "answer_rows": original.answer_rows}))
        else:
            leave_out(kind.name, "its text names what has another name in the twin")
    return tasks


async def tasks_on(
    graph: PropertyGraph, *, seed: int, questions: Sequence[str] | None = None, per_question: int = 1
) -> list[QuestionTask]:
    """The questions about a graph, made on the embedded engine; named as in an experiment, None: all that ship.

    Of a graph that was not generated, None stands for those that it can host. ConfigError where it cannot host one.
    """
    store = await EmbeddedDatabase().load(graph)
    return await _tasks_on(graph, store, questions, seed, per_question, {})


async def tasks_of_source(
    source: GraphSource,
    environment: Environment,
    *,
    seed: int,
    left_out: dict[str, str],
    questions: Sequence[str] | None = None,
    per_question: int = 1,
) -> list[QuestionTask]:
    """The same about a file, or a database as it stands; `left_out` gets what the graph cannot host, and why."""
    graph = await read_source(source, environment)
    if source.file is not None:
        store = await EmbeddedDatabase().load(graph)
        return await _tasks_on(graph, store, questions, seed, per_question, left_out)
    async with open_source(source, environment) as opened:
        return await _tasks_on(graph, opened.store, questions, seed, per_question, left_out)


async def _tasks_on(
    graph: PropertyGraph,
    store: GraphStore,
    questions: Sequence[str] | None,
    seed: int,
    per_question: int,
    left_out: dict[str, str],
) -> list[QuestionTask]:
    kinds = choose_kinds(questions)
    if graph.spec:
        return await tasks_in(graph, store, kinds, seed=seed, per_question=per_question)
    if questions is not None:
        return await tasks_in(graph, store, kinds, seed=seed, per_question=per_question, effort=OWN)
    leave_out = left_out.__setitem__
    return await own_tasks(graph, store, kinds, seed=seed, per_question=per_question, leave_out=leave_out)


async def _own_par(index: GraphIndex, store: GraphStore, scratch: Database, agent: AgentConfig) -> Par:
    """Played on the embedded engine: the schema of a large database is sampled, and a plan needs all of it."""
    here = store if store.kind == EmbeddedDatabase.kind else await scratch.load(index.graph)
    return _par_on(here, index, agent)


def paging_of(agent: AgentConfig) -> dict[str, Any]:
    """The fields of an agent that decide how many calls reading a result takes."""
    by_tokens = {"result_tokens", "encoding"} if agent.result_tokens is not None else set()
    return agent.model_dump(include={"result_budget", *by_tokens})


def _par_on(store: GraphStore, index: GraphIndex, agent: AgentConfig) -> Par:
    """Pages are those of the agent; values are not cut, since the expert's answer is checked."""
    schema = schema_of(index.graph)
    in_memory = agent.result_tokens is None and can_be_walked_in_memory(index.graph)
    toolbox = GraphToolbox(store, schema, agent=AgentConfig(**paging_of(agent)))
    return ExpertPar(schema, toolbox, ToolsInMemory(index) if in_memory else None, agent.result_budget)
