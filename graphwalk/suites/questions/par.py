"""Par: the turns, tool calls and tokens that the expert's walk takes for a question."""

import json
from collections.abc import Sequence

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.models.players.policy import Ask
from graphwalk.scoring.rows import compare_rows
from graphwalk.suites.drive import Account, Played, calls_of, count
from graphwalk.suites.questions.players.expert import plan_of
from graphwalk.suites.questions.players.reading import Result
from graphwalk.suites.questions.prompts import tools_prompt
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tools_in_memory import weights
from graphwalk.suites.questions.tools_in_memory.tools import ToolsInMemory
from graphwalk.toolbox.toolbox import Toolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


async def par(task: QuestionTask, schema: Schema, toolbox: Toolbox, memory: ToolsInMemory | None = None) -> Played:
    """The walk of the expert (docs/method.md, Questions), with prompt and tools in their default form.

    With `memory` it is handed rows in place of text; the figures are those of the texts. OracleError where the expert's
    answer is not the target: the Cypher, the evaluator, a tool or a plan is wrong.
    """
    account = Account(toolbox, tools_prompt(task.question, schema, AgentConfig()))
    plan = plan_of(task.template, task.parameters, schema)
    results: list[Result] | None = None
    while True:
        account.turn()
        try:
            asks = next(plan) if results is None else plan.send(results)
        except StopIteration as end:
            return _closed(account, task, end.value)
        asked = calls_of(asks)
        account.say(asked)
        results = [await _result(*one, toolbox, memory, account) for one in zip(asks, asked, strict=True)]


async def _result(
    ask: Ask, call: ToolCall, toolbox: Toolbox, memory: ToolsInMemory | None, account: Account
) -> str | list[Row]:
    shown = memory and memory.answer(ask)
    if shown:
        account.show(shown.tokens)
        return shown.rows
    result = await toolbox.call(call)
    account.show(count(result.content), note=result.is_note)
    return result.content


def _closed(account: Account, task: QuestionTask, rows: Sequence[Row]) -> Played:
    answer = json.dumps(rows, ensure_ascii=False)
    tokens = weights.tokens(weights.of_rows(rows))
    played = account.close(answer, count(answer) if tokens is None else tokens)
    any_one = task.mode != "set"
    if rows != task.gold and not compare_rows(rows, task.gold, task.answer_fields, any_one=any_one).correct:
        raise OracleError(
            f"the expert finds another answer than the oracles to {task.task_id} ({task.question.strip()})\n"
            f"  expert: {played.answer}\n  target: {json.dumps(task.gold, ensure_ascii=False)}",
            hint=f"graphwalk questions {task.template}",
        )
    return played
