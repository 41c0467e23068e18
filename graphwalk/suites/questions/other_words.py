"""The questions that ship in other words (templates/wordings.yaml): what they mean stays, what they say does not."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from graphwalk.config.yaml_files import YamlFile
from graphwalk.resources import data_path
from graphwalk.seeds import stdlib_random
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.wording import render_wording

Wording = Literal["standard", "training", "held_out"]


def in_other_words(task: QuestionTask, wording: Wording, seed: int) -> QuestionTask:
    """The task with one of the other wordings of its kind; as it is where there are none.

    The form of the answer, the last paragraph of a question, stays.
    """
    texts = wordings().get(task.template, {}).get(wording, ())
    if not texts:
        return task
    text = stdlib_random(seed, "wording", task.task_id).choice(list(texts))
    asked, _, form = task.question.rpartition("\n\n")
    return task.model_copy(update={"question": f"{render_wording(text, task.parameters)}\n\n{form}"}) if asked else task


@cache
def wordings() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Kind of question → "training" and "held_out" → texts."""
    read: Mapping[str, Mapping[str, Sequence[str]]] = YamlFile.read(data_path("templates") / "wordings.yaml").data
    return read
