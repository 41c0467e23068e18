"""The scripted players by name: an expert, one with the flaws of weak models, and baselines."""

import random

from graphwalk.errors import ConfigError
from graphwalk.models.policy import Policy
from graphwalk.suites.questions.players.by_reference import by_reference
from graphwalk.suites.questions.players.empty import always_empty
from graphwalk.suites.questions.players.expert import expert
from graphwalk.suites.questions.players.flawed import FLAWS, flawed
from graphwalk.suites.questions.players.own_cypher import own_cypher
from graphwalk.suites.questions.players.random_walk import random_walk
from graphwalk.suites.questions.players.varied import varied
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.types.schema import Schema

PLAYERS = (
    "expert",
    "varied",
    "by_reference",
    "cypher",
    "flawed",
    "random",
    "empty",
    *(f"flawed:{flaw}" for flaw in FLAWS),
)
WRITE_QUERIES = ("cypher",)
"""Those that play the setting write_cypher, and no other."""
FOLLOW_A_PLAN = ("expert", "varied", "by_reference", "flawed")
"""Those that play only questions with a Python part."""


def player_named(name: str, task: QuestionTask, schema: Schema, draw: random.Random) -> Policy:
    """A player for one episode, told what a language model is told. ConfigError for an unknown name."""
    if name == "empty":
        return always_empty()
    if name == "cypher":
        return own_cypher(task)
    if name == "random":
        return random_walk(task, schema, draw)
    kind, _, flaw = name.partition(":")
    if kind not in FOLLOW_A_PLAN or (flaw and kind != "flawed"):
        raise ConfigError(f"there is no scripted player {name!r}", hint=f"known players: {', '.join(PLAYERS)}")
    walk = expert(task.template, task.parameters, schema)
    if kind == "flawed":
        return flawed(walk, draw, only=flaw or None)
    if kind == "by_reference":
        return by_reference(walk, task, schema)
    return varied(walk, draw) if kind == "varied" else walk
