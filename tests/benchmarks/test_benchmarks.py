"""Every benchmark still runs, small and once; what it measures here means nothing."""

from collections.abc import Callable
from itertools import islice

import pytest

from benchmarks import graphs, model_calls, start_up, tool_calls
from benchmarks.measure import Row, table
from graphwalk.environment import Environment
from tests.neo4j_servers import RELEASE_NAMES


@pytest.fixture
def server_in_environment(neo4j_settings: Callable[[str], Environment], monkeypatch: pytest.MonkeyPatch) -> None:
    """One release is enough to see that the benchmark runs."""
    for name, value in neo4j_settings(RELEASE_NAMES[0]).variables.items():
        if name.startswith("NEO4J"):
            monkeypatch.setenv(name, value)


def test_model_calls_through_the_runner_and_a_bare_client() -> None:
    runner, bare, per_call = model_calls.measure(quick=True)
    assert 0 < (runner.ratio or 0) <= 1
    assert 0 < (bare.ratio or 0) <= 1
    assert per_call.ratio


def test_tool_calls_on_the_embedded_engine() -> None:
    assert all(row.ratio for row in islice(tool_calls.measure(quick=True), 2))


def test_generation() -> None:
    assert all(row.ratio for row in graphs.measure_generation(quick=True, full=False))


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
