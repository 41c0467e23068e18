"""Every benchmark still runs, small and once; what it measures here means nothing."""

import pytest

from benchmarks import graphs, model_calls, tool_calls, where_walking_pays
from graphwalk.suites.questions.catalogue import choose_kinds
from tests.neo4j_servers import RELEASE_NAMES, settings_of

pytestmark = pytest.mark.extended


@pytest.fixture
def server_in_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """One release is enough to see that the benchmark runs."""
    for name, value in settings_of(RELEASE_NAMES[0]).values.items():
        if name.startswith("NEO4J"):
            monkeypatch.setenv(name, value)


def test_model_calls_through_the_runner_and_a_bare_client() -> None:
    runner, bare, per_call = model_calls.measure(quick=True)
    assert 0 < (runner.ratio or 0) <= 1
    assert 0 < (bare.ratio or 0) <= 1
    assert per_call.ratio


def test_tool_calls_on_the_embedded_engine() -> None:
    assert next(tool_calls.measure(quick=True)).ratio


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
    assert costs[100].text("json") > costs[100].text("incidence") > 100
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
