"""The baseline that answers nothing, without a look: what an honest shrug scores (docs/method.md, Baselines)."""

from graphwalk.models.policy import Policy
from graphwalk.models.scripted import NO_ANSWER


def always_empty() -> Policy:
    yield from ()
    return NO_ANSWER
