"""Every benchmark still runs, small and once; what it measures here means nothing."""

from argparse import Namespace
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import (
    ablation_tools,
    answer_sizes,
    divided_calls,
    divided_planning,
    graphs,
    model_calls,
    planning,
    small_contexts,
    small_policies,
    start_up,
    tool_calls,
    where_walking_pays,
)
from benchmarks.measure import Row, table
from graphwalk.settings import Settings
from graphwalk.suites.questions.catalogue import choose_kinds
from tests.neo4j_servers import RELEASE_NAMES

pytestmark = pytest.mark.extended


@pytest.fixture
def server_in_environment(neo4j_settings: Callable[[str], Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    """One release is enough to see that the benchmark runs."""
    for name, value in neo4j_settings(RELEASE_NAMES[0]).variables.items():
        if name.startswith("NEO4J"):
            monkeypatch.setenv(name, value)


def test_model_calls_through_the_runner_and_a_bare_client() -> None:
    runner, bare, per_call = model_calls.measure(quick=True)
    assert 0 < (runner.ratio or 0) <= 1
    assert 0 < (bare.ratio or 0) <= 1
    assert per_call.ratio


def test_model_calls_of_two_processes() -> None:
    both, per_call = divided_calls.measure(quick=True)
    assert 0 < (both.ratio or 0) <= 1
    assert per_call.ours


def test_tool_calls_on_the_embedded_engine() -> None:
    assert all(row.ratio for row in islice(tool_calls.measure(quick=True), 2))


def test_generation() -> None:
    assert all(row.ratio for row in graphs.measure_generation(quick=True, full=False))


def test_planning_beside_the_same_by_texts() -> None:
    engine, ours, beside, growth = planning.measure(quick=True, full=False)
    assert (engine.ratio or 9) < 5  # 1.3 on a quiet machine
    assert ours.ours
    assert (beside.ratio or 9) < 1
    assert growth.unit == "µs"


def test_planning_in_two_processes() -> None:
    planned = divided_planning.side_by_side(100, [["node_count"], ["path_finding"]])
    assert 0 < planned.loaded < planned.planned


def test_start_up() -> None:
    assert all(row.ours for row in start_up.measure(quick=True))


@pytest.mark.neo4j
@pytest.mark.usefixtures("server_in_environment")
def test_tool_calls_on_neo4j() -> None:
    assert [row.ratio for row in tool_calls.measure(quick=True)][-1]


@pytest.mark.neo4j
@pytest.mark.usefixtures("server_in_environment")
def test_loading() -> None:
    assert all(row.ratio for row in graphs.measure_loading(quick=True, full=False))


async def test_where_walking_pays_is_measured_and_laid_out() -> None:
    costs = {100: await where_walking_pays.measure(100, graphs=1)}
    assert set(costs[100].walks) == {kind.name for kind in choose_kinds()}
    assert all(tokens > costs[100].openings[0] for walks in costs[100].walks.values() for tokens in walks)
    assert costs[100].text("graphml") > costs[100].text("json") > costs[100].text("incidence") > 100
    assert "| walk, `node_count` |" in where_walking_pays.tables(costs)


def test_walking_pays_from_where_it_stays_cheaper() -> None:
    def costs(walk: int) -> where_walking_pays.Costs:
        made = where_walking_pays.Costs()
        made.walks["q"].append(walk)
        made.texts["json"].append(100)
        return made

    by_size = {10: costs(90), 20: costs(110), 50: costs(99), 100: costs(10)}
    assert where_walking_pays.pays_from(by_size, "q", "json") == 50
    assert where_walking_pays.pays_from({10: costs(90), 20: costs(100)}, "q", "json") is None


def test_the_expert_loses_what_a_part_of_the_tools_shows() -> None:
    right = {name: ablation_tools.measured("scripted/expert", agent)[0] for name, agent in ABLATED.items()}
    whole, no_directions = (int(cell.split()[0]) for cell in right.values())
    assert right["whole"] == "36 of 36"
    assert no_directions < whole / 2


ABLATED = {"whole": {}, "no directions": ablation_tools.VARIANTS["no directions"]}


async def test_answer_sizes() -> None:
    sizes = await answer_sizes.answer_sizes("paper-100", graphs=1, per_question=8)
    assert max(sizes["variable_hop_path"]) > 100


def test_a_ratio_is_the_median_of_the_ratios_of_pairs() -> None:
    row = Row("a", ours=[1.0, 2.0, 9.0], plain=[1.0, 1.0, 1.0], aim=1.5)
    assert row.ratio == 2.0
    assert row.verdict == "short"


def test_an_aim_without_a_plain_way_is_about_the_value() -> None:
    assert Row("a", ours=[0.2, 0.3, 0.9], aim=0.35).verdict == "ok"
    assert Row("a", ours=[0.8], plain=[1.0], aim=0.9, sense="at least").verdict == "short"


def test_what_cannot_be_measured_says_so() -> None:
    text = table([Row("a", ours=[1.0]), Row("b", missing="no Neo4j here")])
    assert text.splitlines()[-1] == "b  no Neo4j here"


async def test_policies_make_questions_fit_into_a_small_context() -> None:
    plain, *_, every = (small_contexts.experiment(fields, 20, 1) for _, fields in small_contexts.growing())
    before, after = [await small_contexts.largest(config, len) for config in (plain, every)]
    assert before.keys() == after.keys()
    assert all(2 * after[kind][0] < before[kind][0] for kind in before)


def test_a_player_is_asked_with_a_policy_and_told_of(tmp_path: Path) -> None:
    options = Namespace(folder=tmp_path, model="scripted/by_reference", nodes=20, graphs=1)
    small_policies.asked(options, "all but short names")
    cells = small_policies.told("all", small_policies.folder_of(options, "all but short names"))
    assert cells[:3] == ["all", "9 of 9 (70–100 %)", "1.00"]
