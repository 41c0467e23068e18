"""Reading an answer out of the text of a reply (docs/method.md, Answers).

Stage 1 is deterministic: the candidates are the whole reply as JSON ("strict"), the content of its code fences
("fenced"), every outermost balanced bracket pair in the order of the text ("embedded"), and the same texts as Python
literals ("literal"). The first candidate of the expected shape is the answer, so that a footnote like `[1]` before
the answer does no harm; the value of a wrapping object (`{"answer": […]}`) counts as one ("wrapped").
Stage 2 asks a model that sees the question and the reply, and never the target.

Replies are hostile: no text raises, and the time is linear in its length.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from graphwalk.config.agent import AgentConfig
from graphwalk.models.model import Model
from graphwalk.scoring.brackets import balanced_spans
from graphwalk.scoring.values import parse_json, parse_literal
from graphwalk.types.chat import CallOptions, Message, Reply

_THINK_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_FENCE_LANGUAGE = re.compile(r"[ \t]*[\w+#.-]*[ \t]*\r?\n")
_ATTEMPT = 100
"""What one attempt to parse costs besides the length of its text, in characters."""
_FAILED_LENGTHS = 8
"""Attempts that fail may cost this many times the length of the reply, all together."""
_LITERAL_BUDGET = 2_000_000
"""Characters of all texts tried as Python literals."""
_MOST_FENCES = 1000
_MOST_EMBEDDED = 10_000
"""Values looked at in running text."""
_MODEL_CHARACTERS = 50_000
"""A model is shown the last this many characters of a reply; answers stand at the end."""


class Shape(NamedTuple):
    """One form an answer may have.

    `read` returns the answer, or None for a value of another form. `stage`, if given, is reported in place of where
    the value was found: for forms that are understood though nobody asked for them.
    """

    read: Callable[[Any], Any]
    stage: str | None = None
    alone: bool = False
    """An object around it must hold nothing else: a tool call written as text is no answer."""


ANYTHING = Shape(lambda value: value)


def extract_json(reply: str, *shapes: Shape) -> tuple[Any, str | None]:
    """The answer in a reply and the stage that found it; (None, None) where there is none.

    Shapes are tried in order, each on all candidates: a later one counts only where no candidate has an earlier one.
    """
    candidates = list(_candidates(strip_thinking(reply).strip()))
    for shape in shapes or (ANYTHING,):
        for value, stage in candidates:
            answer = shape.read(value)
            if answer is not None:
                return answer, shape.stage or stage
            answer = _unwrapped(value, shape)
            if answer is not None:
                return answer, shape.stage or "wrapped"
    return None, None


async def extract_with_model(
    model: Model, question: str, reply: str, answer_format: str, agent: AgentConfig = AgentConfig()
) -> Reply:
    """A model's version of a reply in the asked format, to be read by stage 1. ModelError where the call fails."""
    tail = strip_thinking(reply)[-_MODEL_CHARACTERS:]
    prompt = agent.render("extractor.j2", question=question, reply=tail, answer_format=answer_format)
    return await model.complete([Message("user", prompt)], (), CallOptions())


def strip_thinking(reply: str) -> str:
    """The reply without `<think>…</think>`.

    A closing tag alone ends a block that the prompt opened; a block that never ends hides the rest of the reply.
    """
    kept: list[str] = []
    position, inside = 0, False
    for tag in _THINK_TAG.finditer(reply):
        if tag[1]:
            if not inside:
                kept.clear()
            inside, position = False, tag.end()
        elif not inside:
            kept.append(reply[position : tag.start()])
            inside = True
    if not inside:
        kept.append(reply[position:])
    return "".join(kept)


def _candidates(text: str) -> Iterator[tuple[Any, str]]:
    """Values found in the text. A JSON text within a JSON text (a quoted answer) is looked into once."""
    whole = parse_json(text)
    if isinstance(whole, str):
        yield from ((value, "wrapped") for value, _ in _found_in(whole))
    if whole is not None:
        yield whole, "strict"
        return
    yield from _found_in(text)


def _found_in(text: str) -> Iterator[tuple[Any, str]]:
    fenced = text.split("```", 2 * _MOST_FENCES)[1::2]
    fences = [_FENCE_LANGUAGE.sub("", part, count=1).strip() for part in fenced]
    for fence in fences:
        value = parse_json(fence)
        if value is not None:
            yield value, "fenced"
    literals: list[str] = [text, *fences]
    yield from islice(_embedded(text, literals), _MOST_EMBEDDED)
    budget = _LITERAL_BUDGET
    for literal in literals:
        budget -= len(literal) + _ATTEMPT
        if budget < 0:
            return
        value = parse_literal(literal)
        if value is not None:
            yield value, "literal"


def _embedded(text: str, failed: list[str]) -> Iterator[tuple[Any, str]]:
    """JSON values in balanced brackets, outermost first; texts that are no JSON are added to `failed`."""
    budget, parsed_until = _FAILED_LENGTHS * (len(text) + _ATTEMPT), 0
    for start, end in balanced_spans(text):
        if start < parsed_until:
            continue
        part = text[start:end]
        value = parse_json(part)
        if value is not None:
            parsed_until = end
            yield value, "embedded"
            continue
        failed.append(part)
        budget -= len(part) + _ATTEMPT
        if budget < 0:
            return


def _unwrapped(value: Any, shape: Shape) -> Any:
    """The answer within an object of which exactly one value has the shape, else None."""
    if not isinstance(value, dict) or (shape.alone and len(value) > 1):
        return None
    fitting = [answer for answer in map(shape.read, value.values()) if answer is not None]
    return fitting[0] if len(fitting) == 1 else None
