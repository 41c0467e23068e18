"""Thoughts of the scripted agents for questions, for training data.

Texts are in templates/thoughts/questions.yaml, and in `thoughts` of templates/questions/NAME.yaml.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING, Literal

from graphwalk.evaluation.values import parse_object
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.thoughts import Thoughts
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import Trajectory, Turn

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

_LOOK_UPS = {"get_node_by_property": "look_up", "get_all_nearest_neighbors": "neighbours"}
_VALUES = "get_unique_property_values"


def walk_in_words(task: "QuestionTask", trajectory: Trajectory, draw: Random) -> list[str]:
    """Return a thought before every turn, based on the question, the calls and earlier results."""
    thoughts = Thoughts("questions", draw)
    texts = []
    for number, turn in enumerate(trajectory.turns):
        parts = (_outlook(task, thoughts, trajectory.turns[:number]), _next_step(task, thoughts, turn, trajectory))
        texts.append(" ".join(filter(None, parts)))
    return texts


def _outlook(task: "QuestionTask", thoughts: Thoughts, before: Sequence[Turn]) -> str:
    """Describe the state before a turn: the plan, the last mistake, or the number of rows found."""
    if not before:
        plans = _of_kind(task, "plan")
        return thoughts.say("begin", plan=thoughts.choose(plans, **task.parameters)) if plans else ""
    results = before[-1].results
    wrong = [result.error for result in results if result.error is not None]
    if wrong:
        return thoughts.say("refused", error=str(wrong[0]).replace("_", " "))
    return thoughts.say("learnt", rows=sum(result.rows or 0 for result in results)) if results else ""


def _next_step(task: "QuestionTask", thoughts: Thoughts, turn: Turn, trajectory: Trajectory) -> str:
    """Explain the calls of a turn; without calls, how the answer follows."""
    if turn.message.tool_calls and not any(result.final for result in turn.results):
        return " ".join(_steps(thoughts, turn.message.tool_calls))
    rules = _of_kind(task, "rule")
    seen = sum(result.rows or 0 for result in trajectory.results)
    return thoughts.say("conclude", rule=thoughts.choose(rules, **task.parameters), seen=seen) if rules else ""


def _of_kind(task: "QuestionTask", name: Literal["plan", "rule"]) -> Sequence[str]:
    """Return the texts in the YAML of a built-in question."""
    kind = shipped_kinds().get(task.template)
    return kind.template.thoughts.get(name, ()) if kind else ()


def _steps(thoughts: Thoughts, calls: Sequence[ToolCall]) -> Iterator[str]:
    """Yield one sentence per tool, label and property."""
    for tool, group in groupby(sorted(map(_subject, calls)), key=lambda subject: subject[0]):
        subjects = list(group)
        if tool == _VALUES:
            names = list(dict.fromkeys(f"{name} of {owner}" for _, owner, name in subjects))
            yield thoughts.say("list_values", names=names)
        elif tool in _LOOK_UPS:
            for (_, label, name), same in groupby(subjects):
                yield thoughts.say(_LOOK_UPS[tool], label=label, property=name, calls=len(list(same)))
        else:
            yield thoughts.say("other", tool=tool)


def _subject(call: ToolCall) -> tuple[str, str, str]:
    """Return tool, label or type, and property of a call; "" for missing arguments."""
    arguments = parse_object(call.arguments)
    owner = arguments.get("label", arguments.get("entity_name", ""))
    return call.name, str(owner), str(arguments.get("property_name", ""))
