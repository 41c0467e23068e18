"""Scripted players of the twelve questions: an expert, one with the flaws of weak models, and baselines."""

import random
from collections.abc import Mapping

from graphwalk.errors import ConfigError
from graphwalk.models.players.policy import Policy
from graphwalk.suites.questions.players.empty import always_empty
from graphwalk.suites.questions.players.expert import expert
from graphwalk.suites.questions.players.flawed import FLAWS, flawed
from graphwalk.suites.questions.players.random_walk import random_walk
from graphwalk.types.schema import Schema
from graphwalk.types.values import Value

POLICIES = ("expert", "flawed", "random", "empty", *(f"flawed:{flaw}" for flaw in FLAWS))


def policy_named(
    name: str, template: str, parameters: Mapping[str, Value], schema: Schema, draw: random.Random
) -> Policy:
    """A player for one episode, told what a language model is told. ConfigError for an unknown name."""
    if name == "empty":
        return always_empty()
    if name == "random":
        return random_walk(template, parameters, schema, draw)
    walk = expert(template, parameters, schema)
    kind, _, flaw = name.partition(":")
    if name == "expert":
        return walk
    if kind == "flawed":
        return flawed(walk, draw, only=flaw or None)
    raise ConfigError(f"there is no scripted player {name!r}", hint=f"known players: {', '.join(POLICIES)}")
