"""Moves that were shown: others are refused, and what tools and answer allow follows the results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from graphwalk.config.agent import AgentConfig
from graphwalk.levers.moves import MOST_LISTED, SeenMoves
from graphwalk.levers.setup import tools_with_levers
from graphwalk.runs.finished.verify import verify_run
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.stores.base import GraphStore
from graphwalk.suites.task import Prompt, keys_as_answer, rows_as_answer
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.toolbox import begin_turn
from graphwalk.types.chat import Message, ToolSpec
from graphwalk.types.episode import ToolResult
from graphwalk.types.schema import Schema
from graphwalk.variables import Variables
from tests.levers.played import call, play

LOOK_UP, AROUND, LIST = "get_node_by_property", "get_all_nearest_neighbors", "get_unique_property_values"
Make = Callable[..., SeenMoves]


class Asked:
    """A question with these parameters."""

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters


@pytest.fixture
def moves(store: GraphStore, schema: Schema) -> Make:
    def make(question: str = "", agent: AgentConfig | None = None, **parameters: Any) -> SeenMoves:
        graph = GraphToolbox(store, schema, agent=agent or AgentConfig())
        task: Any = Asked(**parameters)
        tools = tools_with_levers(graph, None, agent or AgentConfig())
        return SeenMoves(tools, graph, Prompt((Message("user", question),)), task, agent or AgentConfig())

    return make


async def look(
    toolbox: SeenMoves, key: Any, label: str = "Zorep", name: str = "key", tool: str = LOOK_UP
) -> ToolResult:
    return await toolbox.call(call(tool, label=label, property_name=name, property_value=key))


def spec_of(toolbox: SeenMoves, tool: str) -> ToolSpec | None:
    return next((spec for spec in toolbox.specs if spec.name == tool), None)


def values_of(toolbox: SeenMoves, tool: str = LOOK_UP) -> Any:
    spec = spec_of(toolbox, tool)
    return spec and spec.parameters["properties"]["property_value"].get("enum")


async def test_a_key_that_was_not_shown_is_refused_until_a_result_shows_it(moves: Make) -> None:
    toolbox = moves("How many?", label="Zorep")
    refused = await look(toolbox, "z1")
    assert (refused.error, refused.rows) == ("unseen_value", None)
    assert "Find out first which values there are, with get_unique_property_values" in refused.content
    await toolbox.call(call(LIST, property_name="key", entity_name="Zorep", entity_type="node"))
    assert (await look(toolbox, "z1")).rows == 1
    again = await look(toolbox, "z9")
    assert again.error == "unseen_value"
    assert 'not looked up so far are "z2", "z3"' in again.content


async def test_what_the_question_says_was_shown(moves: Make) -> None:
    toolbox = moves('Which Zorep nodes have "vark" in hue, or 1.5 in mass, or z2?', value="vark")
    shown = (("vark", "Zorep", "hue", 2), (1.5, "Zorep", "mass", 1), ("z2", "Zorep", "key", 1))
    for value, label, name, rows in shown:
        assert (await look(toolbox, value, label, name)).rows == rows
    assert (await look(toolbox, "var", "Zorep", "hue")).error == "unseen_value"


async def test_no_call_is_made_twice(moves: Make) -> None:
    toolbox = moves("z1?", value="z1")
    begin_turn(toolbox, 3)
    assert (await look(toolbox, "z1", tool=AROUND)).error is None
    begin_turn(toolbox, 5)
    again = await look(toolbox, "z1", tool=AROUND)
    assert again.error == "repeated_call"
    assert "was made in turn 3; its result has not changed" in again.content
    assert 'not looked up so far are "12", "z2"' in again.content
    assert (await look(toolbox, "z1")).error is None


@pytest.mark.parametrize("names", [0, 200])
async def test_the_schema_of_json_excludes_calls_that_were_made(moves: Make, names: int) -> None:
    agent = AgentConfig(tool_protocol="json", names_in_tools=names)
    toolbox = moves("z1 or 1?", agent, first="z1", second=1)
    by_key = {"label": "Zorep", "property_name": "key", "property_value": "z1"}
    others = [{**by_key, "property_value": 1}, {**by_key, "property_name": "hue"}, {**by_key, "property_name": "mass"}]
    assert await allowed(toolbox, [by_key, *others]) == [True] * 4
    await toolbox.call(call(LOOK_UP, **by_key))
    assert await allowed(toolbox, [by_key, *others]) == [not names, True, True, True]
    await toolbox.call(call(LOOK_UP, **others[1]))
    assert await allowed(toolbox, [by_key, *others]) == [not names, True, not names, True]


async def allowed(toolbox: SeenMoves, calls: list[dict[str, Any]]) -> list[bool]:
    spec = spec_of(toolbox, LOOK_UP)
    assert spec
    return [Draft202012Validator(spec.parameters).is_valid(arguments) for arguments in calls]


async def test_a_mistake_may_be_made_again_and_thoughts_are_free(moves: Make) -> None:
    toolbox = moves("z1?", value="z1")
    for _ in range(2):
        assert (await look(toolbox, "z1", label="Zoreps")).error == "unknown_name"
        assert (await toolbox.call(call("think", thought="z3 perhaps"))).error is None
    assert (await look(toolbox, "z3")).error == "unseen_value"


async def test_tools_list_the_values_that_were_shown(moves: Make) -> None:
    toolbox = moves("How many Zorep nodes?", label="Zorep")
    assert [spec.name for spec in toolbox.specs] == [LIST, "think"]
    await toolbox.call(call(LIST, property_name="live", entity_name="Zorep", entity_type="node"))
    assert values_of(toolbox) == [False, True]
    await toolbox.call(call(LIST, property_name="key", entity_name="Zorep", entity_type="node"))
    assert values_of(toolbox) == [False, True, "z1", "z2", "z3"]
    await look(toolbox, "z1")
    assert values_of(toolbox) == [False, True, "z1", "z2", "z3", 3, "vark", 1.5]


async def test_many_values_and_questions_in_free_words_are_not_listed(moves: Make) -> None:
    assert values_of(moves("Who owns z1?")) is None
    many = moves("", **{str(number): number for number in range(MOST_LISTED + 1)})
    assert spec_of(many, LOOK_UP)
    assert values_of(many) is None
    assert (await look(many, "z1")).error == "unseen_value"


async def test_the_answer_has_keys_that_results_have_shown(moves: Make) -> None:
    toolbox = moves("z1 and z3?", value="z1")
    rows = rows_as_answer({"node_key": "string", "count": "integer", "value": ("string", "number")}).schema
    assert toolbox.narrowed(rows) == rows
    await look(toolbox, "z1", tool=AROUND)
    fields = toolbox.narrowed(rows)["items"]["properties"]
    assert set(fields["node_key"]["enum"]) == {"z1", "z2", "12"}
    assert (fields["count"], fields["value"]) == ({"type": "integer"}, {"type": ("string", "number")})
    assert set(toolbox.narrowed(keys_as_answer(str).schema)["items"]["enum"]) == {"z1", "z2", "12"}


@pytest.mark.parametrize("suite", ["every kind", "mazes", "graphwalks"])
async def test_the_expert_makes_only_such_moves(suite: str, tmp_path: Path) -> None:
    agent = {"moves": "seen", "answer": "tool", "names_in_tools": 200}
    results = await play(tmp_path, suite, agent, models=["scripted/expert", "scripted/random"])
    for result in results:
        assert result.score is not None
        assert result.score["correct"] or result.key.model == "scripted/random", result.key
    experts = [one for result in results if "expert" in result.key.model for one in result.trajectory.results]
    assert {one.error for one in experts} == {None}
    assert (await verify_run(RunFolder.open(tmp_path / "run"), Variables())).error is None
