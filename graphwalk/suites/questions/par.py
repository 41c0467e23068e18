"""Par: the turns, tool calls and tokens that the expert's walk takes for a question."""

import json

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.scoring.rows import compare_rows
from graphwalk.suites.drive import Played, drive
from graphwalk.suites.questions.players.expert import expert
from graphwalk.suites.questions.prompts import tools_prompt
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.toolbox.toolbox import Toolbox
from graphwalk.types.schema import Schema


async def par(task: QuestionTask, schema: Schema, toolbox: Toolbox) -> Played:
    """The walk of the expert (docs/method.md, Questions), with prompt and tools in their default form.

    OracleError where the expert's answer is not the target: the Cypher, the evaluator, a tool or a plan is wrong.
    """
    played = await drive(
        expert(task.template, task.parameters, schema), toolbox, tools_prompt(task.question, schema, AgentConfig())
    )
    given = json.loads(played.answer)
    if not compare_rows(given, task.gold, task.answer_fields, any_one=task.mode != "set").correct:
        raise OracleError(
            f"the expert finds another answer than the oracles to {task.task_id} ({task.question.strip()})\n"
            f"  expert: {played.answer}\n  target: {json.dumps(task.gold, ensure_ascii=False)}",
            hint=f"graphwalk questions {task.template}",
        )
    return played
