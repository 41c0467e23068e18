"""The ceiling of a setting: right for every suite, lowered by each limit, and explained by the field that lowers it."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.experiments.loading import load_experiment
from graphwalk.runs.episodes.ceiling import Ceiling, Ceilings
from graphwalk.runs.episodes.graph_sources import GraphSources
from graphwalk.runs.episodes.plan import make_plan
from graphwalk.runs.episodes.resolve import resolve
from graphwalk.runs.finished.compare_runs import compare_runs
from graphwalk.runs.finished.reporting import report_of
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, chat
from tests.runs.playing.test_execute import local, served
from tests.runs.runs import Notes, experiment, start

ONE_CALL = {"agent.max_calls_per_turn": 1, "agent.turn_limit": 60, "agent.compaction_window": 2}
GRAPH = {"suite.graphs": [{"nodes": 40, "properties": 6}]}


async def ceilings_of(source: Any, **flags: Any) -> dict[str, Ceiling]:
    config = load_experiment(source, flags={"models": ["openai-api/none/none"], **flags}, graphs=1)
    experiment, sources = resolve(config, Variables(), keys=False), GraphSources()
    try:
        ceilings = Ceilings(experiment)
        await ceilings.add((await make_plan(experiment, sources, lambda tasks: None)).episodes)
        return await ceilings.by_setting()
    finally:
        await sources.close()


@pytest.mark.parametrize("name", ["three-ways", "graphwalks", "paper-table-1", "magma-walking"])
async def test_every_setting_of_a_suite_without_limits_can_be_solved(name: str) -> None:
    ceilings = await ceilings_of(name)
    assert ceilings
    assert {ceiling.share for ceiling in ceilings.values()} == {1.0}
    assert not any(ceiling.because for ceiling in ceilings.values())


@pytest.mark.parametrize(
    ("flags", "cause"),
    [
        ({"agent.compaction": "window"}, "agent.compaction"),
        ({"agent.turn_limit": 3}, "agent.turn_limit"),
        ({"agent.call_limit": 2}, "agent.call_limit"),
        ({"options.max_output_tokens": 60}, "options.max_output_tokens"),
    ],
)
async def test_a_limit_lowers_the_ceiling_and_is_named(flags: dict[str, Any], cause: str) -> None:
    ceiling = (await ceilings_of("quickstart", **{**GRAPH, **ONE_CALL, **flags}))["tools"]
    assert 0 < ceiling.share < 1
    assert ceiling.because == (cause,)
    assert cause in str(ceiling)


async def test_a_context_window_lowers_the_ceiling() -> None:
    """GPT-4 reads 8,192 tokens."""
    flags = {**GRAPH, **ONE_CALL, "models": ["openai/gpt-4"]}
    ceiling = (await ceilings_of("quickstart", **flags))["tools"]
    assert 0 < ceiling.share < 1
    assert ceiling.because == ("the context window",)


async def test_reading_must_fit_the_output_limit() -> None:
    flags = {**GRAPH, "settings": ["no_tools"], "options.max_output_tokens": 12}
    ceiling = (await ceilings_of("three-ways", **flags))["no_tools"]
    assert 0 < ceiling.share < 1


async def test_variants_have_ceilings_of_their_own() -> None:
    flags = {**GRAPH, **ONE_CALL, "vary": {"agent.compaction": ["none", "window"]}}
    ceilings = await ceilings_of("quickstart", **flags)
    assert ceilings["tools:compaction=none"].share == 1.0 > ceilings["tools:compaction=window"].share


async def test_a_run_records_its_ceilings_and_says_them_before_and_after(tmp_path: Path) -> None:
    progress = Notes()
    async with ModelServer(lambda request: Answer(chat("[]"))) as server:
        config = local(**{**GRAPH, **ONE_CALL, "agent.compaction": "window", "settings": ["tools", "no_tools"]})
        await start(tmp_path / "run", config, served(server), progress)
    folder = RunFolder.open(tmp_path / "run")
    ceilings = folder.read_manifest()["ceilings"]
    assert ceilings["tools"]["share"] < 1 == ceilings["no_tools"]["share"]
    assert ceilings["tools"]["because"] == ["agent.compaction"]
    for notes in (progress.notes, report_of(folder).notes, compare_runs([folder.path]).notes):
        text = "\n".join(notes)
        assert "limited by agent.compaction" in text
        assert "WARNING: a ceiling below 90 % in tools" in text
        assert "The ceilings differ" in text


async def test_scripted_agents_need_no_ceiling(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], **GRAPH))
    assert "ceilings" not in RunFolder.open(tmp_path / "run").read_manifest()
