"""The expert with variety: the calls of a turn in any order, and now and then a wrong call that it corrects at once.

Its answers are the expert's. It is for training data, which should show more than one way and how to recover.
"""

import random
from collections.abc import Generator

from graphwalk.models.policy import Ask, Policy
from graphwalk.suites.questions.players.flawed import missing_argument, unknown_label, unknown_tool

MISTAKES = 0.15
"""Share of the turns with calls that begin with a wrong one."""
_WRONG = (unknown_label, missing_argument, unknown_tool)


def varied(player: Policy, draw: random.Random) -> Policy:
    """The same walk; only what is refused, and the order of calls within a turn, differ."""
    results: list[str] | None = None
    while True:
        try:
            asks = next(player) if results is None else player.send(results)
        except StopIteration as end:
            answer: str = end.value
            return answer
        assert not isinstance(asks, str)  # players of questions call tools until they answer
        if draw.random() < MISTAKES:
            yield [draw.choice(_WRONG)(draw.choice(asks))]
        results = yield from _in_any_order(asks, draw)


def _in_any_order(asks: list[Ask], draw: random.Random) -> Generator[list[Ask], list[str], list[str]]:
    order = draw.sample(range(len(asks)), len(asks))
    given = yield [asks[number] for number in order]
    return [text for _, text in sorted(zip(order, given, strict=True))]
