"""Refusals and empty results name the next step, without a scan."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.levers.guidance import MOST_LABELS, Guidance
from graphwalk.runs.finished.verify import verify_run
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools
from graphwalk.tools.toolbox import begin_turn
from graphwalk.types.chat import ToolCall
from graphwalk.types.encodings import decode_notes, read_rows
from graphwalk.types.graph import Node, PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.variables import Variables
from tests.levers.played import call, play

LOOK_UP, AROUND, LIST = "get_node_by_property", "get_all_nearest_neighbors", "get_unique_property_values"
Z1 = {"label": "Zorep", "property_name": "key", "property_value": "z1"}
Make = Callable[..., Guidance]


@pytest.fixture
def guided(store: GraphStore, schema: Schema) -> Make:
    def make(own: bool = False, **agent: Any) -> Guidance:
        config = AgentConfig(**agent)
        graph = GraphToolbox(store, schema, load_tools(OWN_GRAPH_TOOLS) if own else None, config)
        return Guidance(graph, graph, store, config)

    return make


NEXT_STEPS = [
    (LOOK_UP, {**Z1, "label": "Blick"}, '"z1" is the key of a node with label Zorep: repeat the call with that label.'),
    (
        LOOK_UP,
        {**Z1, "property_value": "z99"},
        "get_unique_property_values with property key lists the keys of a label.",
    ),
    (LOOK_UP, {**Z1, "property_name": "hue"}, "get_unique_property_values lists the values of hue on Zorep."),
    (LOOK_UP, {**Z1, "label": "DRAP"}, "DRAP is a relationship type."),
    (LOOK_UP, {**Z1, "property_name": "name"}, "name is a property of Blick."),
    (
        LOOK_UP,
        {"label": "Zorep"},
        'is written like {"label": "Blick", "property_name": "key", "property_value": "..."}',
    ),
    (AROUND, {**Z1, "label": "Odd `Label`", "property_value": "lone"}, "Go on from another node."),
    (LIST, {"property_name": "type", "entity_name": "Zorep", "entity_type": "node"}, None),
    ("look_up", {}, "Correct the call and make it again."),
]


@pytest.mark.parametrize(("tool", "arguments", "step"), NEXT_STEPS)
async def test_the_next_step(guided: Make, tool: str, arguments: dict[str, Any], step: str | None) -> None:
    toolbox = guided()
    plain = await toolbox.inner.call(call(tool, **arguments))
    result = await toolbox.call(call(tool, **arguments))
    if step is None:
        assert result.content == plain.content
        return
    assert step in result.content
    assert result.error == plain.error
    assert read_rows(result.content) == read_rows(plain.content)
    assert all(note in decode_notes(result.content) for note in decode_notes(plain.content))


async def test_tools_for_own_graphs(guided: Make) -> None:
    toolbox = guided(own=True)
    filtered = await toolbox.call(call(AROUND, **{**Z1, "property_value": "z3"}, relationship_type="FLIN"))
    assert "Leave out relationship_type to see all" in filtered.content
    assert "lists the values of one property" in (await toolbox.call(call("search_nodes", text="qqqq"))).content


async def test_broken_json_is_shown_a_call_that_works(guided: Make) -> None:
    result = await guided().call(ToolCall("1", LIST, '{"property_name": "hue"'))
    assert '{"property_name": "key", "entity_name": "Blick", "entity_type": "node"}' in result.content


async def test_a_repeated_call_says_when_it_was_made_and_what_was_not_tried(guided: Make) -> None:
    toolbox = guided()
    for turn, arguments in enumerate((Z1, {**Z1, "property_name": "hue", "property_value": "vark"}), 2):
        begin_turn(toolbox, turn)
        assert "turn" not in (await toolbox.call(call(AROUND, **arguments))).content
    begin_turn(toolbox, 4)
    again = await toolbox.call(call(AROUND, **Z1))
    notes = decode_notes(again.content)
    assert notes[0] == "This call was made in turn 2, and its result has not changed."
    assert notes[1] == 'Shown in earlier results and not looked up so far: "12", "z2", "b2".'
    assert len(read_rows(again.content) or ()) == again.rows


async def test_values_that_results_have_shown_are_near(guided: Make) -> None:
    toolbox = guided()
    begin_turn(toolbox, 1)
    await toolbox.call(call(LIST, property_name="hue", entity_name="Zorep", entity_type="node"))
    begin_turn(toolbox, 2)
    result = await toolbox.call(call(LOOK_UP, label="Zorep", property_name="hue", property_value="Varks"))
    assert 'Near to it are "vark". ' in result.content


async def test_a_key_is_looked_up_under_few_labels() -> None:
    labels = [f"L{number:02}" for number in range(30)]
    graph = PropertyGraph.from_rows([Node(f"n{label}", (label,), {}) for label in labels], [])
    store, queries = await EmbeddedDatabase().load(graph), list[str]()
    first = store.first

    async def counted(cypher: str, *arguments: Any, **named: Any) -> Any:
        queries.append(cypher)
        return await first(cypher, *arguments, **named)

    store.first = counted  # type: ignore[method-assign]
    tools = GraphToolbox(store, await store.schema())
    toolbox = Guidance(tools, tools, store, AgentConfig())
    near = await toolbox.call(call(LOOK_UP, label="L00", property_name="key", property_value="nL05"))
    assert "with label L05" in near.content
    queries.clear()
    await toolbox.call(call(LOOK_UP, label="L00", property_name="key", property_value="nL29"))
    assert len(queries) == MOST_LABELS + 1


async def test_runs_with_guidance_hold_and_own_graphs_have_it(tmp_path: Path) -> None:
    results = await play(tmp_path, "questions", {"guidance": True}, models=["scripted/flawed", "scripted/random"])
    texts = [one.content for result in results for one in result.trajectory.results]
    assert any("its result has not changed" in text or "Correct the call" in text for text in texts)
    assert (await verify_run(RunFolder.open(tmp_path / "run"), Variables())).error is None
    assert foreign_agent().guidance
    assert not foreign_agent(AgentConfig(guidance=False)).guidance
