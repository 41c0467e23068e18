"""Questions in other words: what they mean stays, what they say does not."""

from collections.abc import Sequence

from graphwalk.seeds import stdlib_random
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.wording import render_wording


def in_other_words(task: QuestionTask, texts: Sequence[str], seed: int) -> QuestionTask:
    """Return the task with one of these wordings; unchanged if there are none.

    The form of the answer, the last paragraph of a question, stays.
    """
    if not texts:
        return task
    text = stdlib_random(seed, "wording", task.task_id).choice(list(texts))
    asked, _, form = task.question.rpartition("\n\n")
    return task.model_copy(update={"question": f"{render_wording(text, task.parameters)}\n\n{form}"}) if asked else task
