"""Par: turns and calls of the expert, and what happens when it finds another answer."""

import pytest

from graphwalk.errors import OracleError
from graphwalk.graphs.random.generate import generate_graph
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.models.players.policy import Ask, Policy
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.drive import Played, drive
from graphwalk.suites.questions.making import make_tasks
from graphwalk.suites.questions.par import par
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.toolbox.graph_toolbox import GraphToolbox
from graphwalk.types.schema import Schema

Setting = tuple[Schema, GraphToolbox, dict[str, QuestionTask]]


@pytest.fixture
async def setting() -> Setting:
    graph = generate_graph(GraphSpec(preset="paper-100"), 5)
    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema()
    tasks = await make_tasks(graph, store, seed=5)
    return schema, GraphToolbox(store, schema), {task.template: task for task in tasks}


async def test_one_call_and_the_answer_turn_are_par_for_a_look_up(setting: Setting) -> None:
    schema, toolbox, tasks = setting
    assert await par(tasks["node_by_property"], schema, toolbox) == (2, 1)


async def test_par_is_the_same_every_time(setting: Setting) -> None:
    schema, toolbox, tasks = setting
    once = [await par(task, schema, toolbox) for task in tasks.values()]
    assert once == [await par(task, schema, toolbox) for task in tasks.values()]
    assert all(2 <= turns <= 5 and turns - 1 <= calls <= 60 for turns, calls in once)


@pytest.mark.parametrize("template", ["node_count", "node_by_property", "remote_node_property"])
async def test_a_target_that_the_expert_does_not_find_is_an_error(setting: Setting, template: str) -> None:
    schema, toolbox, tasks = setting
    wrong = tasks[template].model_copy(update={"gold": [dict.fromkeys(tasks[template].answer_fields, "nothing")]})
    with pytest.raises(OracleError, match="the expert finds another answer") as error:
        await par(wrong, schema, toolbox)
    assert wrong.task_id in str(error.value)
    assert '"nothing"' in str(error.value)


async def test_thoughts_do_not_count_as_calls(setting: Setting) -> None:
    def thinks() -> Policy:
        results = yield [Ask("think", {"thought": "well"}), Ask("think", '{"thought": "then"}')]
        return " ".join(results)

    assert await drive(thinks(), setting[1]) == Played("well then", turns=2, calls=0)


async def test_a_dialogue_cannot_be_played_against_tools(setting: Setting) -> None:
    def talks() -> Policy:
        yield "hello"
        return ""

    with pytest.raises(TypeError, match="calls, not text"):
        await drive(talks(), setting[1])
