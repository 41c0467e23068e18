"""The cost in the progress line."""

from graphwalk.config.calls import Price
from graphwalk.models.prices import KnownPrice
from graphwalk.runlog.result import EpisodeKey, Result
from graphwalk.runner.live_progress import Counts
from graphwalk.types.chat import Usage
from graphwalk.types.episode import ExitStatus, Trajectory

KNOWN = {"openai/m": KnownPrice(price=Price(input=1, output=2), source="genai-prices", version="1")}


def shown(*usages: Usage, spent: Usage = Usage(), done: int = 0, episodes: int = 20) -> str:
    counts = Counts()
    counts.price(spent, KNOWN)
    counts.episodes, counts.done = episodes, done
    for number, usage in enumerate(usages):
        key = EpisodeKey(f"t{number}", "openai/m", "tools", 0)
        counts.add(
            Result(
                key,
                ExitStatus.ANSWERED,
                [],
                {"correct": True},
                Trajectory((), (), ExitStatus.ANSWERED),
                usage,
                0.0,
                {},
                {},
            )
        )
    return str(counts)


def test_cost_so_far_and_of_all() -> None:
    paid = Usage(100, 10, cost=0.25)
    assert "$0.2500 by genai-prices" in shown(paid)
    assert "$1.2500 of about $5.00 by genai-prices" in shown(*[paid] * 5)


def test_a_resumed_run_counts_what_was_spent_before() -> None:
    assert "$2.5000 of about $5.00" in shown(*[Usage(1, 1, cost=0.25)] * 5, spent=Usage(5, 5, cost=1.25), done=5)


def test_unknown_stays_unknown() -> None:
    assert "cost unknown" in shown(Usage(100, 10))
    assert "$0.2500 and unknown cost" in shown(Usage(1, 1, cost=0.25), Usage(1, 1))
    assert "cost" not in shown(Usage())


def test_estimated_tokens_are_marked() -> None:
    assert "about 110 tokens" in shown(Usage(100, 10, cost=0.1, estimated=True))
