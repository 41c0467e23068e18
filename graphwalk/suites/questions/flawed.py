"""The simulated weak model: an expert that makes the mistakes that language models are known for.

A flaw of the walk spoils calls, a flaw of the answer spoils the text. What each does to the score is certain: SPOILING
flaws make a right answer wrong, the others cost turns, errors or an easy extraction, and leave it right.
"""

import json
import random
from collections.abc import Callable, Generator, Mapping
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.models.scripted import NO_ANSWER, Ask, Policy
from graphwalk.types.values import Row

MOST_INVENTED = 3

WalkFlaw = Callable[[list[Ask], Policy], Policy]
"""Plays on from the first calls that the agent wants."""
AnswerFlaw = Callable[[str, random.Random], str]


def flawed(agent: Policy, draw: random.Random, only: str | None = None) -> Policy:
    """The agent with mistakes: with `only` that one flaw, otherwise up to one of the walk and one of the answer.

    ConfigError for an unknown flaw.
    """
    if only is not None and only not in FLAWS:
        raise ConfigError(f"there is no flaw {only!r}", hint=f"known flaws: {', '.join(FLAWS)}")
    walk = draw.choice([None, *WALK_FLAWS]) if only is None else only
    answer = draw.choice([None, *ANSWER_FLAWS]) if only is None else only
    return _flawed(agent, WALK_FLAWS.get(walk or "", flawless), ANSWER_FLAWS.get(answer or ""), draw)


def _flawed(agent: Policy, walk: WalkFlaw, answer: AnswerFlaw | None, draw: random.Random) -> Policy:
    try:
        asks = next(agent)
    except StopIteration as end:
        text: str = end.value
    else:
        text = yield from walk(_calls(asks), agent)
    return answer(text, draw) if answer else text


def flawless(asks: list[Ask], agent: Policy) -> Policy:
    while True:
        results = yield asks
        try:
            asks = _calls(agent.send(results))
        except StopIteration as end:
            answer: str = end.value
            return answer


def early_stop(asks: list[Ask], agent: Policy) -> Policy:
    """Gives up after the first results."""
    yield asks
    agent.close()
    return NO_ANSWER


def repeated_calls(asks: list[Ask], agent: Policy) -> Policy:
    """Makes all calls of every turn once more in the next turn."""
    while True:
        results = yield asks
        yield asks
        try:
            asks = _calls(agent.send(results))
        except StopIteration as end:
            answer: str = end.value
            return answer


def unknown_label(ask: Ask) -> Ask:
    """Asks for the plural of a label."""
    name = "label" if "label" in ask.arguments else "entity_name"
    arguments = _arguments(ask)
    return Ask(ask.tool, {**arguments, name: f"{arguments[name]}s"})


def missing_argument(ask: Ask) -> Ask:
    return Ask(ask.tool, dict(list(_arguments(ask).items())[:-1]))


def malformed_arguments(ask: Ask) -> Ask:
    return Ask(ask.tool, json.dumps(_arguments(ask), ensure_ascii=False)[:-1])


def unknown_tool(ask: Ask) -> Ask:
    return Ask("run_cypher", {"query": "MATCH (n) RETURN count(n)"})


def _wrong_call_first(spoil: Callable[[Ask], Ask]) -> WalkFlaw:
    """A turn with one wrong call, and then everything as it should be."""

    def walk(asks: list[Ask], agent: Policy) -> Policy:
        yield [spoil(asks[0])]
        return (yield from flawless(asks, agent))

    return walk


def bad_json(answer: str, draw: random.Random) -> str:
    """Breaks off within the first row, so that nothing can be read."""
    return answer[: max(1, answer.find(":") - draw.randint(1, 3))]


def prose(answer: str, draw: random.Random) -> str:
    return f"I have walked through the graph step by step. This is what I found:\n\n{answer}\n\nI hope that this helps!"


def fenced(answer: str, draw: random.Random) -> str:
    return f"```json\n{answer}\n```"


def invented_rows(answer: str, draw: random.Random) -> str:
    """Add invented rows that look like the first."""
    rows: list[Row] = json.loads(answer)
    invented = [_invented(rows[0], draw) for _ in range(draw.randint(1, MOST_INVENTED))] if rows else []
    return json.dumps(rows + invented, ensure_ascii=False)


def dropped_rows(answer: str, draw: random.Random) -> str:
    """Keeps fewer than all rows, at most half."""
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
FLAWS = (*WALK_FLAWS, *ANSWER_FLAWS)
SPOILING = frozenset({"early_stop", "bad_json", "invented_rows", "dropped_rows", "empty"})


def _calls(move: list[Ask] | str) -> list[Ask]:
    assert not isinstance(move, str)  # agents for questions call tools until they answer
    return move


def _arguments(ask: Ask) -> dict[str, Any]:
    return json.loads(ask.arguments) if isinstance(ask.arguments, str) else dict(ask.arguments)


def _invented(row: Row, draw: random.Random) -> Row:
    return {name: _another(value, draw) for name, value in row.items()}


def _another(value: Any, draw: random.Random) -> Any:
    if isinstance(value, int | float):
        return value + draw.randint(1, 9)
    return f"x{draw.getrandbits(32):08x}"


MISTAKES = 0.15
"""Share of the turns with calls that begin with a wrong one."""
_WRONG = (unknown_label, missing_argument, unknown_tool)


def varied(agent: Policy, draw: random.Random) -> Policy:
    """The same walk; only what is refused, and the order of calls within a turn, differ."""
    results: list[str] | None = None
    while True:
        try:
            asks = next(agent) if results is None else agent.send(results)
        except StopIteration as end:
            answer: str = end.value
            return answer
        assert not isinstance(asks, str)  # agents for questions call tools until they answer
        if draw.random() < MISTAKES:
            yield [draw.choice(_WRONG)(draw.choice(asks))]
        results = yield from _in_any_order(asks, draw)


def _in_any_order(asks: list[Ask], draw: random.Random) -> Generator[list[Ask], list[str], list[str]]:
    order = draw.sample(range(len(asks)), len(asks))
    given = yield [asks[number] for number in order]
    return [text for _, text in sorted(zip(order, given, strict=True))]
