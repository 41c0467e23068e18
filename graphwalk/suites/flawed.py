"""Simulated weak model: the expert with typical mistakes of language models.

A flaw changes calls or the text of the answer. `early_stop`, `bad_json`, `invented_rows`, `dropped_rows` and `empty`
make the answer wrong; the others cost turns, cause errors or complicate the extraction.
"""

import json
import random
from collections.abc import Callable, Generator, Mapping
from typing import Any

from graphwalk.models.scripted import NO_ANSWER, Ask, Policy
from graphwalk.types.values import Row

MOST_INVENTED = 3

Turn = Generator[list[Ask], list[str], list[str]]
"""The calls in place of those of one turn; returns the results of that turn's own calls."""
WalkFlaw = Callable[[Policy], Policy]
AnswerFlaw = Callable[[str, random.Random], str]


def flawed(agent: Policy, draw: random.Random) -> Policy:
    """Return the agent with up to one flaw in the calls and one in the answer."""
    walk = WALK_FLAWS.get(draw.choice(["", *WALK_FLAWS]))
    spoil = ANSWER_FLAWS.get(draw.choice(["", *ANSWER_FLAWS]))
    return with_flaws(agent, draw, walk, spoil)


def with_flaws(
    agent: Policy, draw: random.Random, walk: WalkFlaw | None = None, spoil: AnswerFlaw | None = None
) -> Policy:
    answer = yield from walk(agent) if walk else agent
    return spoil(answer, draw) if spoil else answer


def _relay(agent: Policy, turn: Callable[[list[Ask], int], Turn]) -> Policy:
    """Play the agent, with the calls of each of its turns (0, 1, …) made by `turn`."""
    results: Any = None
    number = 0
    while True:
        try:
            asks = agent.send(results)
        except StopIteration as end:
            return str(end.value)
        assert not isinstance(asks, str)  # agents for questions call tools until they answer
        results = yield from turn(asks, number)
        number += 1


def early_stop(agent: Policy) -> Policy:
    """Give up after the first results."""
    yield next(agent)
    agent.close()
    return NO_ANSWER


def repeated_calls(agent: Policy) -> Policy:
    """Repeat all calls of every turn in the next turn."""

    def turn(asks: list[Ask], number: int) -> Turn:
        results = yield asks
        yield asks
        return results

    return _relay(agent, turn)


def unknown_label(ask: Ask) -> Ask:
    """Use the plural of a label."""
    arguments = _arguments(ask)
    name = "label" if "label" in arguments else "entity_name"
    return Ask(ask.tool, {**arguments, name: f"{arguments[name]}s"})


def missing_argument(ask: Ask) -> Ask:
    return Ask(ask.tool, dict(list(_arguments(ask).items())[:-1]))


def malformed_arguments(ask: Ask) -> Ask:
    return Ask(ask.tool, json.dumps(_arguments(ask), ensure_ascii=False)[:-1])


def unknown_tool(ask: Ask) -> Ask:
    return Ask("run_cypher", {"query": "MATCH (n) RETURN count(n)"})


def _wrong_call_first(spoil: Callable[[Ask], Ask]) -> WalkFlaw:
    """Make one wrong call in a turn of its own, then play correctly."""

    def turn(asks: list[Ask], number: int) -> Turn:
        if number == 0:
            yield [spoil(asks[0])]
        return (yield asks)

    return lambda agent: _relay(agent, turn)


def bad_json(answer: str, draw: random.Random) -> str:
    """Truncate the answer within the first row, so that it is unreadable."""
    return answer[: max(1, answer.find(":") - draw.randint(1, 3))]


def prose(answer: str, draw: random.Random) -> str:
    return f"I have walked through the graph step by step. This is what I found:\n\n{answer}\n\nI hope that this helps!"


def fenced(answer: str, draw: random.Random) -> str:
    return f"```json\n{answer}\n```"


def invented_rows(answer: str, draw: random.Random) -> str:
    """Add invented rows that resemble the first."""
    rows: list[Row] = json.loads(answer)
    invented = [
        {name: _another(value, draw) for name, value in rows[0].items()}
        for _ in range(draw.randint(1, MOST_INVENTED) if rows else 0)
    ]
    return json.dumps(rows + invented, ensure_ascii=False)


def _another(value: Any, draw: random.Random) -> Any:
    if isinstance(value, int | float):
        return value + draw.randint(1, 9)
    return f"x{draw.getrandbits(32):08x}"


def dropped_rows(answer: str, draw: random.Random) -> str:
    """Keep at most half of the rows."""
    rows: list[Row] = json.loads(answer)
    return json.dumps(rows[: len(rows) // 2], ensure_ascii=False)


def empty(answer: str, draw: random.Random) -> str:
    return ""


WALK_FLAWS: Mapping[str, WalkFlaw] = {
    "early_stop": early_stop,
    "repeated_calls": repeated_calls,
    **{f.__name__: _wrong_call_first(f) for f in (unknown_label, missing_argument, malformed_arguments, unknown_tool)},
}
ANSWER_FLAWS: Mapping[str, AnswerFlaw] = {
    f.__name__: f for f in (bad_json, prose, fenced, invented_rows, dropped_rows, empty)
}


def _arguments(ask: Ask) -> dict[str, Any]:
    return json.loads(ask.arguments) if isinstance(ask.arguments, str) else dict(ask.arguments)


MISTAKES = 0.15
"""Share of turns preceded by a wrong call."""
_WRONG = (unknown_label, missing_argument, unknown_tool)


def varied(agent: Policy, draw: random.Random) -> Policy:
    """Play like the expert, with refused calls and a random order of calls within a turn."""

    def turn(asks: list[Ask], number: int) -> Turn:
        if draw.random() < MISTAKES:
            yield [draw.choice(_WRONG)(draw.choice(asks))]
        order = draw.sample(range(len(asks)), len(asks))
        texts = yield [asks[place] for place in order]
        return [text for _, text in sorted(zip(order, texts, strict=True))]

    return _relay(agent, turn)
