"""The baseline that answers nothing, without a look: what an honest shrug scores (spec section 6)."""

from graphwalk.models.players.policy import Policy
from graphwalk.models.players.scripted import NO_ANSWER


def always_empty() -> Policy:
    yield from ()
    return NO_ANSWER
