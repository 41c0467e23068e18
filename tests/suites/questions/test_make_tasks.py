"""Making tasks: complete records, the same from the same seed, right, and what a graph cannot host."""

from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError, OracleError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.values import Row
from graphwalk.stores.embedded import EmbeddedDatabase, EmbeddedStore
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.make_tasks import make_tasks, tasks_on
from graphwalk.suites.questions.scripted import EXPERT
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.reference import expert_walk
from graphwalk.suites.rows import same_rows

ODD = {"preset": "paper-200", "missing_rate": 0.3, "self_loops": True, "parallel_relationships": True}


async def tasks_of(spec: dict[str, Any], per_question: int = 1) -> list[QuestionTask]:
    """Return tasks of every kind with the figures of the expert."""
    graph = generate_graph(GraphSpec.model_validate(spec), 3)
    config = QuestionsConfig(questions=tuple(shipped_kinds()), per_question=per_question)
    store = await EmbeddedDatabase().load(graph)
    about = LoadedGraph(GraphInstance.of(graph), store)
    tasks = (await make_tasks(graph, store, config, seed=3)).asked
    return [task.model_copy(update=(await expert_walk(EXPERT, task, about)).figures) for task in tasks]


@pytest.mark.parametrize("spec", [{"preset": "paper-100"}, ODD])
async def test_a_preset_hosts_every_kind_and_the_expert_is_right(spec: dict[str, Any]) -> None:
    tasks = await tasks_of(spec)
    assert [task.template for task in tasks] == list(shipped_kinds())
    for task in tasks:
        assert len(task.target) == task.target_size > 0
        assert all(row.keys() == set(task.answer_fields) for row in task.target)
        assert set(task.scored_fields) <= set(task.answer_fields)
        assert task.template != "remote_node_property" or {"value": None} not in task.target
        assert task.reference_turns is not None
        assert 0 < task.reference_turns <= QuestionsSuite.turn_limit


async def test_the_first_tasks_are_those_of_all() -> None:
    graph = generate_graph(GraphSpec(preset="paper-100"), 3)
    about = LoadedGraph(GraphInstance.of(graph), await EmbeddedDatabase().load(graph))
    arguments = (about, QuestionsConfig(per_question=2), 3, AgentConfig())
    whole = (await QuestionsSuite().tasks(*arguments)).asked
    for most in (1, 3, 4):
        assert (await QuestionsSuite().first_tasks(*arguments, most)).asked == whole[:most]


async def test_the_unscoped_cypher_of_a_record_gives_its_gold() -> None:
    graph = generate_graph(GraphSpec(preset="paper-150"), 4)
    store = await EmbeddedDatabase().load(graph)
    for task in (await make_tasks(graph, store, QuestionsConfig(), seed=4)).asked:
        rows = await store.run(task.cypher, task.cypher_parameters)
        if task.mode == "ties-allowed":
            assert len(rows) == 1
            assert rows[0] in task.target
        else:
            assert same_rows(rows, task.target)
            assert len(rows) == task.target_size


async def test_tasks_of_one_kind_differ_and_do_not_depend_on_their_number() -> None:
    many = await tasks_of({"preset": "paper-100"}, per_question=2)
    one = await tasks_of({"preset": "paper-100"})
    assert [task for task in many if task.task_id.endswith("-0")] == one
    assert len({(task.template, str(task.parameters)) for task in many}) == len(many) == 2 * len(shipped_kinds())
    assert len({task.task_id for task in many}) == len(many)
    assert [QuestionTask.model_validate_json(task.model_dump_json()) for task in many] == many


class ForgetfulStore(EmbeddedStore):
    """Loses the last row."""

    async def run(self, cypher: str, parameters: object = None) -> list[Row]:
        return (await super().run(cypher, parameters))[:-1]  # type: ignore[arg-type]


async def test_a_store_that_answers_wrongly_stops_the_making() -> None:
    graph = generate_graph(GraphSpec(preset="paper-100"), 0)
    store = await EmbeddedDatabase().load(graph)
    store.__class__ = ForgetfulStore
    with pytest.raises(OracleError, match="the evaluator differ on node_by_property"):
        await make_tasks(graph, store, QuestionsConfig(questions=("node_by_property",)), seed=0)


@pytest.mark.extended
async def test_a_dense_graph_does_not_host_a_long_walk() -> None:
    graph = generate_graph(GraphSpec(nodes=300, labels=1, relationship_types=1, mean_degree=60.0), 1)
    with pytest.raises(ConfigError, match="cannot host the question variable_hop_path"):
        await tasks_on(graph, seed=1, questions=["variable_hop_path"])
