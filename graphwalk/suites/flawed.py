"""Simulated weak model: an expert of any suite with typical mistakes of language models.

A flaw changes calls or the text of an answer. `early_stop`, `bad_json`, `invented_items`, `dropped_items` and `empty`
make the answer wrong; the others cost turns, cause errors or complicate the extraction.
"""

import json
from collections.abc import Callable, Generator, Mapping
from functools import partial
from random import Random
from typing import Any

from graphwalk.graphs.answers import parse_answer, parse_literal
from graphwalk.models.scripted import NO_ANSWER, Ask, Policy

MOST_INVENTED = 3
MISTAKES = 0.15
"""Share of turns of `varied` that are preceded by a wrong call."""

Turn = Generator[list[Ask], list[str], list[str]]
"""The calls in place of those of one turn; returns the results of that turn's own calls."""
WalkFlaw = Callable[[Policy], Policy]
AnswerFlaw = Callable[[str, Random], str]


def flawed(agent: Policy, random: Random) -> Policy:
    """Return the agent with up to one flaw in its calls, and one in its answer."""
    walk = WALK_FLAWS.get(random.choice(["", *WALK_FLAWS]))
    spoil = ANSWER_FLAWS.get(random.choice(["", *ANSWER_FLAWS]))
    return with_flaws(agent, random, walk, spoil)


def varied(agent: Policy, random: Random) -> Policy:
    """Return the agent with refused calls and a random order of calls within a turn."""

    def turn(asks: list[Ask], number: int) -> Turn:
        if random.random() < MISTAKES:
            yield [random.choice(_REFUSED)(random.choice(asks))]
        order = random.sample(range(len(asks)), len(asks))
        texts = yield [asks[place] for place in order]
        return [text for _, text in sorted(zip(order, texts, strict=True))]

    return _relay(agent, turn)


def with_flaws(agent: Policy, random: Random, walk: WalkFlaw | None = None, spoil: AnswerFlaw | None = None) -> Policy:
    answer = yield from walk(agent) if walk else agent
    return spoil(answer, random) if spoil else answer


def _relay(agent: Policy, turn: Callable[[list[Ask], int], Turn]) -> Policy:
    """Play the agent, with the calls of each of its turns (0, 1, …) made by `turn`."""
    results: Any = None
    number = 0
    while True:
        try:
            asks = agent.send(results)
        except StopIteration as end:
            return str(end.value)
        results = yield from turn(asks, number)
        number += 1


def early_stop(agent: Policy) -> Policy:
    """Give up after the first results."""
    for move in agent:
        yield move
        break
    agent.close()
    return NO_ANSWER


def repeated_calls(agent: Policy) -> Policy:
    """Repeat all calls of every turn in the next turn."""

    def turn(asks: list[Ask], number: int) -> Turn:
        results = yield asks
        yield asks
        return results

    return _relay(agent, turn)


def unknown_name(ask: Ask) -> Ask:
    """Use the plural of a label, or of the first argument."""
    arguments = _arguments(ask)
    name = next((name for name in ("label", "entity_name", *arguments) if name in arguments), None)
    return ask if name is None else Ask(ask.tool, {**arguments, name: f"{arguments[name]}s"})


def missing_argument(ask: Ask) -> Ask:
    return Ask(ask.tool, dict(list(_arguments(ask).items())[:-1]))


def malformed_arguments(ask: Ask) -> Ask:
    return Ask(ask.tool, json.dumps(ask.arguments, ensure_ascii=False)[:-1])


def _arguments(ask: Ask) -> dict[str, Any]:
    assert not isinstance(ask.arguments, str)  # only policies that err write text
    return dict(ask.arguments)


def unknown_tool(ask: Ask) -> Ask:
    return Ask("run_cypher", {"query": "MATCH (n) RETURN count(n)"})


def _wrong_call_first(spoil: Callable[[Ask], Ask], agent: Policy) -> Policy:
    """Make one wrong call in a turn of its own, then play correctly."""

    def turn(asks: list[Ask], number: int) -> Turn:
        if number == 0:
            yield [spoil(asks[0])]
        return (yield asks)

    return _relay(agent, turn)


def bad_json(answer: str, random: Random) -> str:
    """Truncate the answer within the first row or its name, so that it is unreadable."""
    return answer[: max(1, answer.find(":") - random.randint(1, 3))]


def prose(answer: str, random: Random) -> str:
    return f"I have walked through the graph step by step. This is what I found:\n\n{answer}\n\nI hope that this helps!"


def fenced(answer: str, random: Random) -> str:
    return f"```json\n{answer}\n```"


def invented_items(answer: str, random: Random) -> str:
    """Add invented items that resemble the first."""

    def with_invented(items: list[Any]) -> list[Any]:
        number = random.randint(1, MOST_INVENTED) if items else 0
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


def dropped_items(answer: str, random: Random) -> str:
    """Keep at most half of the items."""
    return _with_items(answer, lambda items: items[: len(items) // 2])


def _with_items(answer: str, change: Callable[[list[Any]], list[Any]]) -> str:
    """Return the answer with its list changed: JSON, a Python list, or bare names."""
    start, end = answer.find("["), answer.rfind("]") + 1
    text = answer[start:end]
    parsed = parse_answer(text) or parse_literal(text)
    items = text.strip("[]").split(", ") if parsed is None else parsed.value
    return answer[:start] + json.dumps(change(items), ensure_ascii=False) + answer[end:]


def empty(answer: str, random: Random) -> str:
    return ""


_REFUSED = (unknown_name, missing_argument, unknown_tool)
WALK_FLAWS: Mapping[str, WalkFlaw] = {
    "early_stop": early_stop,
    "repeated_calls": repeated_calls,
    "unknown_name": partial(_wrong_call_first, unknown_name),
    "missing_argument": partial(_wrong_call_first, missing_argument),
    "malformed_arguments": partial(_wrong_call_first, malformed_arguments),
    "unknown_tool": partial(_wrong_call_first, unknown_tool),
}
ANSWER_FLAWS: Mapping[str, AnswerFlaw] = {
    f.__name__: f for f in (bad_json, prose, fenced, invented_items, dropped_items, empty)
}
