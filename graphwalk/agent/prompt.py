"""The start of a conversation: its first messages, its tools, and the form of its answer."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from graphwalk.models.chat import Message
from graphwalk.tools.toolbox import Toolbox


class AnswerForm(NamedTuple):
    """An answer as JSON: its schema, and the function that writes it as the text that the task reads."""

    schema: Mapping[str, Any]
    write: Callable[[Any], str]


def rows_as_answer(types: Mapping[str, str | Sequence[str]]) -> AnswerForm:
    """Return the form of an answer with rows: `types` are the JSON types of their fields.

    {"name": "string", "born": ["integer", "null"]}
    """
    properties = {field: {"type": kind} for field, kind in types.items()}
    row = {"type": "object", "properties": properties, "required": list(types), "additionalProperties": False}
    return AnswerForm({"type": "array", "items": row}, partial(json.dumps, ensure_ascii=False))


def keys_as_answer(write: Callable[[Any], str]) -> AnswerForm:
    """Return the form of an answer with the keys of nodes."""
    return AnswerForm({"type": "array", "items": {"type": "string"}}, write)


@dataclass(frozen=True)
class Prompt:
    """The start of an episode.

    `answer` is the form of a typed answer, None if the answer is free text.
    """

    messages: tuple[Message, ...]
    toolbox: Toolbox | None = None
    answer: AnswerForm | None = None
    nudge: Callable[[str], str | None] = lambda reply: None
    """Returns what to tell a model whose reply has no call and no answer; None if the reply is an answer."""
    follow_ups: tuple[str, ...] = ()
    """Further messages of the user, each sent after an answer to the one before; the last reply is the answer."""
