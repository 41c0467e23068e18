"""Par: the turns, tool calls and tokens that the expert's walk takes for a question."""

import json
from collections.abc import Sequence

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.models.policy import Ask
from graphwalk.models.tokens import tokens_of
from graphwalk.scoring.rows import compare_rows
from graphwalk.suites.drive import Account, Played, calls_of, count, tokens_told
from graphwalk.suites.questions.players.expert import plan_of
from graphwalk.suites.questions.players.reading import Page, Result
from graphwalk.suites.questions.prompts import tools_system
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tools_in_memory.tools import Shown, ToolsInMemory
from graphwalk.toolbox.toolbox import Toolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


class ExpertPar:
    """The walks of the expert on one graph (docs/method.md, Questions), with prompt and tools in their default form.

    With `memory` it is handed rows in place of text, at most `budget` for one call; the figures are those of the texts.
    """

    def __init__(
        self, schema: Schema, toolbox: Toolbox, memory: ToolsInMemory | None = None, budget: int | None = None
    ) -> None:
        self._schema, self._toolbox, self._memory, self._budget = schema, toolbox, memory, budget
        self._paged: dict[str, Shown] = {}
        self._told = tokens_told(toolbox, [tools_system(schema, AgentConfig())])

    async def __call__(self, task: QuestionTask) -> Played:
        """OracleError where the expert's answer is not the target: Cypher, evaluator, a tool or a plan is wrong."""
        account = Account(self._told + count(task.question))
        self._paged.clear()
        plan = plan_of(task.template, task.parameters, self._schema)
        results: list[Result] | None = None
        while True:
            account.turn()
            try:
                asks = next(plan) if results is None else plan.send(results)
            except StopIteration as end:
                return self._closed(account, task, end.value)
            asked = calls_of(asks)
            account.say(asked)
            results = [await self._result(*one, account) for one in zip(asks, asked, strict=True)]

    async def _result(self, ask: Ask, call: ToolCall, account: Account) -> Result:
        number, first = _first_page(ask)
        shown = self._paged.get(first) or (self._memory and self._memory.answer(ask))
        if shown:
            rows, most = shown.rows, self._budget or len(shown.rows)
            if len(rows) > most:
                self._paged[first] = shown
            page = rows[(number - 1) * most : number * most]
            account.show(shown.tokens * len(page) // len(rows))
            return Page(page, number + 1 if number * most < len(rows) else None)
        result = await self._toolbox.call(call)
        account.show(count(result.content), note=result.is_note)
        return result.content

    def _closed(self, account: Account, task: QuestionTask, rows: Sequence[Row]) -> Played:
        answer = json.dumps(rows, ensure_ascii=False)
        tokens = tokens_of(self._memory.weight_of(rows)) if self._memory else count(answer)
        played = account.close(answer, tokens)
        any_one = task.mode != "set"
        if rows != task.gold and not compare_rows(rows, task.gold, task.answer_fields, any_one=any_one).correct:
            raise OracleError(
                f"the expert finds another answer than the oracles to {task.task_id} ({task.question.strip()})\n"
                f"  expert: {played.answer}\n  target: {json.dumps(task.gold, ensure_ascii=False)}",
                hint=f"graphwalk questions {task.template}",
            )
        return played


def _first_page(ask: Ask) -> tuple[int, str]:
    """The page that a call asks for, and the call for the first one as text."""
    given = {} if isinstance(ask.arguments, str) else dict(ask.arguments)
    number = given.pop("page", 1)
    return number, f"{ask.tool} {given}"
