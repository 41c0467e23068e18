"""Experts of any suite with mistakes of language models: `flawed` in the answer, `varied` in the calls."""

import json
from collections.abc import Callable, Generator, Mapping
from random import Random
from typing import Any

from graphwalk.graphs.answers import parse_answer, parse_literal
from graphwalk.models.scripted import Ask, Policy

SPOILT = 0.5
"""Share of answers of `flawed` that have a flaw."""
MOST_INVENTED = 3
MISTAKES = 0.15
"""Share of turns of `varied` that are preceded by a wrong call."""

Turn = Generator[list[Ask], list[str], list[str]]
"""The calls in place of those of one turn; returns the results of that turn's own calls."""
Flaw = Callable[[str, Random], str]


def flawed(agent: Policy, random: Random) -> Policy:
    """Return the agent, which spoils about half of its answers."""
    answer = yield from agent
    if random.random() >= SPOILT:
        return answer
    flaw = random.choice(list(FLAWS))
    return FLAWS[flaw](answer, random)


def wrong(answer: str, random: Random) -> str:
    """Add invented items that resemble the first."""

    def with_invented(items: list[Any]) -> list[Any]:
        # Nothing resembles the items of an empty answer, which stays.
        if not items:
            return items
        number = random.randint(1, MOST_INVENTED)
        return items + [_another(items[0], random) for _ in range(number)]

    return _with_items(answer, with_invented)


def _another(value: Any, random: Random) -> Any:
    if isinstance(value, dict):
        return {name: _another(member, random) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_another(member, random) for member in value]
    if isinstance(value, int | float):
        return value + random.randint(1, 9)
    return f"x{random.getrandbits(32):08x}"


def missing(answer: str, random: Random) -> str:
    """Keep at most half of the items."""
    return _with_items(answer, lambda items: items[: len(items) // 2])


def _with_items(answer: str, change: Callable[[list[Any]], list[Any]]) -> str:
    """Return the answer with its list changed: JSON, a Python list, or bare names."""
    start = answer.find("[")
    end = answer.rfind("]") + 1
    text = answer[start:end]
    parsed = parse_answer(text) or parse_literal(text)
    # GraphWalks: "Final Answer: [a, b]"
    items = text.strip("[]").split(", ") if parsed is None else parsed.value
    return answer[:start] + json.dumps(change(items), ensure_ascii=False) + answer[end:]


def unreadable(answer: str, random: Random) -> str:
    """Truncate the answer within the first row or its name."""
    return answer[: max(1, answer.find(":") - random.randint(1, 3))]


FLAWS: Mapping[str, Flaw] = {flaw.__name__: flaw for flaw in (wrong, missing, unreadable)}


def varied(agent: Policy, random: Random) -> Policy:
    """Return the agent with refused calls and a random order of calls within a turn."""

    def turn(asks: list[Ask]) -> Turn:
        if random.random() < MISTAKES:
            spoil = random.choice(_REFUSED)
            yield [spoil(random.choice(asks))]
        order = random.sample(range(len(asks)), len(asks))
        texts = yield [asks[place] for place in order]
        # The agent reads the results in the order of its own calls: of order [1, 0] and texts ["b", "a"], ["a", "b"].
        in_own_order = sorted(zip(order, texts, strict=True))
        return [text for _, text in in_own_order]

    return _relay(agent, turn)


def _relay(agent: Policy, turn: Callable[[list[Ask]], Turn]) -> Policy:
    """Play the agent, with the calls of each of its turns made by `turn`."""
    results: Any = None
    while True:
        try:
            asks = agent.send(results)
        except StopIteration as end:
            return str(end.value)
        results = yield from turn(asks)


def _unknown_name(ask: Ask) -> Ask:
    """Use the plural of a label, or of the first argument."""
    arguments = _arguments(ask)
    # A wrong label is refused; a wrong value only finds nothing.
    for name in ("label", "entity_name", *arguments):
        if name in arguments:
            return Ask(ask.tool, {**arguments, name: f"{arguments[name]}s"})
    return ask


def _missing_argument(ask: Ask) -> Ask:
    arguments = _arguments(ask)
    if arguments:
        arguments.popitem()
    return Ask(ask.tool, arguments)


def _unknown_tool(ask: Ask) -> Ask:
    return Ask("run_cypher", {"query": "MATCH (n) RETURN count(n)"})


def _arguments(ask: Ask) -> dict[str, Any]:
    assert not isinstance(ask.arguments, str)  # only policies that err write text
    return dict(ask.arguments)


_REFUSED = (_unknown_name, _missing_argument, _unknown_tool)
