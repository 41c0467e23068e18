"""What a run would take, without running it."""

from graphwalk.runner.estimate import estimate_run
from graphwalk.runner.resolve import resolve
from tests.runner.runs import NOTHING_SET, experiment


async def test_an_estimate_counts_calls_at_par() -> None:
    estimate = await estimate_run(resolve(experiment(models=["scripted/expert"]), NOTHING_SET))
    assert sum(estimate.tasks.values()) == 12
    assert estimate.rows[0].episodes == 12
    assert estimate.rows[0].tool_calls > 12
    assert estimate.rows[0].usd == 0.0
