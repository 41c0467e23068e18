"""Scripted walkers. They know what a model is told, start and goal, and see the maze through the tools alone."""

import random
from collections.abc import Callable

from graphwalk.errors import ConfigError
from graphwalk.models.policy import Policy
from graphwalk.models.scripted import NO_ANSWER
from graphwalk.suites.mazes.players.explorer import by_key, depth_first, nearest_first
from graphwalk.suites.mazes.players.flawed import FLAWS, flawed
from graphwalk.suites.mazes.players.random_walk import random_walk
from graphwalk.suites.mazes.players.varied import varied

MakePlayer = Callable[[str, str, random.Random], Policy]
"""(key of the start, key of the goal, random) → a player for one episode."""


def always_empty() -> Policy:
    """The baseline that answers nothing, without a look."""
    yield from ()
    return NO_ANSWER


WALKERS: dict[str, MakePlayer] = {
    "expert": lambda start, goal, draw: depth_first(start, goal, nearest_first),
    "depth_first": lambda start, goal, draw: depth_first(start, goal, by_key),
    "varied": varied,
    "random": random_walk,
    "flawed": flawed,
    "empty": lambda start, goal, draw: always_empty(),
    **{f"flawed:{name}": flaw for name, flaw in FLAWS.items()},
}


def walker_named(name: str, start: str, goal: str, draw: random.Random) -> Policy:
    """A player for one episode. ConfigError for an unknown name."""
    if name not in WALKERS:
        raise ConfigError(f"mazes have no scripted player {name!r}", hint=f"known players: {', '.join(WALKERS)}")
    return WALKERS[name](start, goal, draw)
