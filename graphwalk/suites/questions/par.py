"""Par: how many turns and tool calls the expert needs for a question, played without a model or an agent."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from graphwalk.errors import OracleError
from graphwalk.models.players.policy import Ask, Policy
from graphwalk.scoring.rows import compare_rows
from graphwalk.suites.questions.players.expert import expert
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.toolbox.toolbox import Toolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult
from graphwalk.types.schema import Schema


@dataclass(frozen=True, slots=True)
class Played:
    """A policy's answer, the turns it took, the answer among them, and its tool calls without notes."""

    answer: str
    turns: int
    calls: int


async def play(policy: Policy, toolbox: Toolbox) -> Played:
    """Let a policy play against the tools. StoreError passes through; TypeError for a policy that holds a dialogue."""
    turns = calls = 0
    results: list[str] = []
    while True:
        turns += 1
        try:
            asks = policy.send(results) if turns > 1 else next(policy)
        except StopIteration as end:
            return Played(end.value, turns, calls)
        if isinstance(asks, str):
            raise TypeError("a policy that plays against tools yields calls, not text")
        given = await _results(toolbox, asks)
        calls += sum(not result.is_note for result in given)
        results = [result.content for result in given]


async def par(task: QuestionTask, schema: Schema, toolbox: Toolbox) -> tuple[int, int]:
    """(turns, calls) of the expert (spec section 5), with the tools in their default form.

    OracleError where the expert's answer is not the target: the Cypher, the evaluator, a tool or a plan is wrong.
    """
    played = await play(expert(task.template, task.parameters, schema), toolbox)
    given = json.loads(played.answer)
    if not compare_rows(given, task.gold, task.answer_fields, any_one=task.mode != "set").correct:
        raise OracleError(
            f"the expert finds another answer than the oracles to {task.task_id} ({task.question.strip()})\n"
            f"  expert: {played.answer}\n  target: {json.dumps(task.gold, ensure_ascii=False)}",
            hint=f"graphwalk questions {task.template}",
        )
    return played.turns, played.calls


async def _results(toolbox: Toolbox, asks: list[Ask]) -> Sequence[ToolResult]:
    calls = [ToolCall(f"call_{n}", ask.tool, _text(ask)) for n, ask in enumerate(asks)]
    if toolbox.ordered:
        return [await toolbox.call(call) for call in calls]
    return await asyncio.gather(*map(toolbox.call, calls))


def _text(ask: Ask) -> str:
    return ask.arguments if isinstance(ask.arguments, str) else json.dumps(ask.arguments, ensure_ascii=False)
