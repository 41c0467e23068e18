"""The expert's walk in words, and words for a question that has no answer.

Texts are in templates/thoughts/questions.yaml, and in `thoughts` of templates/questions/NAME.yaml.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from graphwalk.graphs.generate import WordMaker
from graphwalk.seeds import generator
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.thoughts import Thoughts
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import Trajectory, Turn

_LOOK_UPS = {"get_node_by_property": "look_up", "get_all_nearest_neighbors": "neighbours"}
_VALUES = "get_unique_property_values"
_SCHEMA_ROW = re.compile(r"^\d+ \| (Node|Relationship) \| (\S+) \|", re.MULTILINE)
_SHORT_SCHEMA = {"Node": re.compile(r"\(:(\w+)\)"), "Relationship": re.compile(r"-\[:(\w+)\]->")}
"""As `prompts: short` writes it."""
_KINDS = {"Node": "node label", "Relationship": "relationship type"}


def walk_in_words(task: QuestionTask, trajectory: Trajectory, draw: random.Random) -> list[str]:
    """A thought before every turn; it knows the question, the calls, and the results of earlier turns."""
    thoughts = Thoughts("questions", draw)
    return [
        " ".join(
            filter(
                None,
                (_outlook(task, thoughts, trajectory.turns[:number]), _next_step(task, thoughts, turn, trajectory)),
            )
        )
        for number, turn in enumerate(trajectory.turns)
    ]


def no_answer(task: QuestionTask, trajectory: Trajectory, draw: random.Random) -> tuple[str, str] | None:
    """The question about a label or type that the schema in the prompt does not have, and the reply that says so.

    None where the prompt shows no schema that can be read, or the question names none of it.
    """
    known = _schema_in(trajectory.prompt[0].content or "")
    named = [str(value) for value in task.parameters.values() if value in known]
    if not named:
        return None
    name = draw.choice(sorted(set(named)))
    (word,) = WordMaker(generator(draw.getrandbits(64), "no-such-name")).words(1)
    made_up = word.upper() if known[name] == "Relationship" else word.capitalize()
    question = re.sub(rf"\b{re.escape(name)}\b", made_up, task.question)
    names = [other for other, kind in known.items() if kind == known[name]]
    reply = Thoughts("questions", draw).say("no_name", what=_KINDS[known[name]], name=made_up, names=names)
    return question, reply


def _schema_in(prompt: str) -> dict[str, str]:
    """Labels and types that a prompt shows → "Node" or "Relationship", in their order."""
    if rows := _SCHEMA_ROW.findall(prompt):
        return {name: kind for kind, name in rows}
    return {name: kind for kind, form in _SHORT_SCHEMA.items() for name in form.findall(prompt)}


def _outlook(task: QuestionTask, thoughts: Thoughts, before: Sequence[Turn]) -> str:
    """What is known as a turn begins: the plan, the mistake just made, or how much was found."""
    if not before:
        plans = _of_kind(task, "plan")
        return thoughts.say("begin", plan=thoughts.choose(plans, **task.parameters)) if plans else ""
    results = before[-1].results
    wrong = [result.error for result in results if result.error is not None]
    if wrong:
        return thoughts.say("refused", error=str(wrong[0]).replace("_", " "))
    return thoughts.say("learnt", rows=sum(result.rows or 0 for result in results)) if results else ""


def _next_step(task: QuestionTask, thoughts: Thoughts, turn: Turn, trajectory: Trajectory) -> str:
    """What the calls of a turn are for; without calls, how the answer follows."""
    if turn.message.tool_calls and not any(result.final for result in turn.results):
        return " ".join(_steps(thoughts, turn.message.tool_calls))
    rules = _of_kind(task, "rule")
    seen = sum(result.rows or 0 for result in trajectory.results)
    return thoughts.say("conclude", rule=thoughts.choose(rules, **task.parameters), seen=seen) if rules else ""


def _of_kind(task: QuestionTask, name: Literal["plan", "rule"]) -> Sequence[str]:
    """Texts in the YAML of the question, if it ships."""
    kind = shipped_kinds().get(task.template)
    return kind.template.thoughts.get(name, ()) if kind else ()


def _steps(thoughts: Thoughts, calls: Sequence[ToolCall]) -> Iterator[str]:
    """One sentence for all calls of one tool about the same label and property."""
    asked = sorted((_subject(call), number) for number, call in enumerate(calls))
    for tool, group in groupby((subject for subject, _ in asked), key=lambda subject: subject[0]):
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
    """Tool, label or type, property; "" for what a call does not say."""
    arguments = _arguments(call)
    owner = arguments.get("label", arguments.get("entity_name", ""))
    return call.name, str(owner), str(arguments.get("property_name", ""))


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        read = json.loads(call.arguments)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
