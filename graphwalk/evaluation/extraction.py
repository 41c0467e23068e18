"""Extract the answer from the text of a reply (docs/method.md, Answers), for all suites.

The parser is deterministic. It removes thoughts, tool calls written as text and tokens of chat templates. It compares
the values in the rest (`replies`) and marked text (`rows`) with the shapes that an answer may have. A suite lists its
shapes from the one asked for to those that are merely understood; a later shape counts only if no earlier one is found.
Within one shape

* the last answer counts: a draft is followed by its correction;
* an answer is *stated* where it begins its line, follows a colon, ends its line or is in a fence; with words on
  both sides it is *mentioned*, and counts only where none is stated: explanations and examples come after answers too
  (where several are mentioned and differ, the reading is lossy);
* a stated answer that is part of the one before it is a correction that takes something back, unless several follow
  that have nothing in common: then the answer is restated in pieces, and stays;
* an echo of the format (`<key of the node>`) is no answer, and neither is a tool call;
* an empty list counts only where there is nothing else ("there is nothing more: []").

A reading is *lossy* where it is ambiguous, or the reply holds something like an answer that is not in it: a list that
breaks off or has a malformed element, several different answers, objects or an empty list after the answer, a list
beside it in one object, words that deny it. The model fallback is asked if the parser reads nothing or is lossy: a
model that sees the question and the reply, and never the target. If it reads nothing either, the first reading stays.

Replies are hostile: no text raises, and the time is linear in its length.
"""

import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from graphwalk.config.agent import AgentConfig
from graphwalk.evaluation.replies import Candidate, Candidates, find_candidates
from graphwalk.models.base import Model
from graphwalk.types.chat import CallOptions, Message, Reply

_THINK_TAG = re.compile(
    r"<(/?)(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)>"
    r"|\[(/?)THINK\]|◁(/?)think▷",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>(?:analysis|commentary).*?(?=<\|channel\|>final|\Z)", re.DOTALL)
_TOOL_BLOCK = re.compile(r"<(tool_call|tool_response|function_call)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_TURN = re.compile(r"<\|(?:im_end|eot_id|endoftext|return)\|>|</s>|<end_of_turn>")
_TEMPLATE_TOKEN = re.compile(r"<\|[\w ]{1,40}\|>|<s>|</?(?:bos|eos|start_of_turn|tool_call)>")
_SEPARATORS = re.compile(r"(?:[\s,;，、；`*_•·–-]|\(?\d{1,6}[.):])*+")
"""Separators between the objects of one list: commas, line ends, bullets, numbers."""
_SENTENCE = 200
"""Characters looked at before and after an answer for words that deny it."""
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_DENIAL = re.compile(
    r"\b(?:not the case|not true|untrue|wrong|incorrect|false|excluded|omitted|rejected|ruled out|left out|except)\b"
    r"|\bneither\b|\brather than\b|\binstead of\b"
    r"|(?:\b(?:not|never|cannot)|n['’]t)\b[^\n]{0,80}\b(?:answers?|included|right|correct|counted|match|qualify)\b"
    r"|\b(?:doubt|unlikely|unsure)\b"
    r"|\banswer\b[^\n]{0,80}(?:\b(?:not|never|cannot)|n['’]t)\b"
    r"|(?:\b(?:not|never|cannot)|n['’]t)\b(?: be)?[^\w\n]{0,10}\[\]",
    re.IGNORECASE,
)
"""`[]` is the place of the answer."""
_MODEL_CHARACTERS = 50_000
"""Number of characters at the end of a reply that the model reads; answers are at the end."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer read from a reply, None if there is none. `stage` names how: "strict", "fenced", …, "model".

    `lossy`: the reply holds something like an answer that is not in this one.
    """

    answer: Any = None
    stage: str | None = None
    lossy: bool = False

    @property
    def sure(self) -> bool:
        """Return False if the model fallback has something to add."""
        return self.answer is not None and not self.lossy


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer at text[start:end]. `stated`: it is by itself, not between the words of a sentence."""

    answer: Any
    stage: str | None
    start: int
    end: int
    stated: bool = True
    lossy: bool = False


class Fit(NamedTuple):
    """The answer in a value; `lossy` where parts of the value are none."""

    answer: Any
    lossy: bool = False


class Shape(NamedTuple):
    """A form of answers.

    `read` returns the answer, or None for a value of another form. `stage`, if given, is reported instead of the
    location of the value: for accepted forms other than the requested one.
    """

    read: Callable[[Any], Fit | None]
    stage: str | None = None
    alone: bool = False
    """An object around it must hold nothing else: a tool call written as text is not an answer."""
    joins: bool = False
    """Values of this form that follow each other make up one answer, of stage "lines": JSON lines."""
    of_text: bool = False
    """`read` is given the text, not a value found in it."""
    empty: bool = False
    """An answer that names nothing."""


ANYTHING = Shape(Fit)


def extract(reply: str, *shapes: Shape) -> Extraction:
    """Return the answer in a reply; `shapes` are those that it may have, the one asked for first."""
    candidates = find_candidates(visible_text(reply))
    candidates = candidates._replace(values=[found for found in candidates.values if not _is_tool_call(found.value)])
    shapes = shapes or (ANYTHING,)
    for number, shape in enumerate(shapes):
        readings = _readings(shape, candidates)
        if readings:
            chosen = choose(readings, asked=number == 0)
            doubtful = (
                chosen.lossy or _left_over(chosen, shapes[number:], candidates) or _is_denied(chosen, candidates.text)
            )
            return Extraction(chosen.answer, chosen.stage, doubtful)
    return Extraction()


async def extract_with_model(
    model: Model, question: str, reply: str, answer_format: str, agent: AgentConfig = AgentConfig()
) -> Reply:
    """Return a model's version of a reply in the asked format, for the parser. Raise ModelError if the call fails."""
    tail = strip_thinking(reply)[-_MODEL_CHARACTERS:]
    prompt = agent.render("extractor.j2", question=question, reply=tail, answer_format=answer_format)
    return await model.complete([Message("user", prompt)], (), CallOptions())


def visible_text(reply: str) -> str:
    """Return a reply without thoughts, tool calls, tokens of chat templates and HTML escapes.

    Text after the token that ends a turn is dropped: there a model plays the others' parts.
    """
    text = _CHANNEL.sub("", strip_thinking(reply).lstrip("\ufeff"))
    end = _END_OF_TURN.search(text)
    if end is not None and text[: end.start()].strip():
        text = text[: end.start()]
    text = _TEMPLATE_TOKEN.sub("", _TOOL_BLOCK.sub("", text))
    return (html.unescape(text) if "&quot;" in text or "&#34;" in text else text).strip()


def strip_thinking(reply: str) -> str:
    """Return the reply without `<think>…</think>` and equivalents of other models.

    A closing tag alone ends a block opened by the prompt. A block without an end extends to the end of the reply.
    """
    kept: list[str] = []
    position, inside = 0, False
    for tag in _THINK_TAG.finditer(reply):
        if "/" in tag[0][:2]:
            if not inside:
                kept.clear()
            inside, position = False, tag.end()
        elif not inside:
            kept.append(reply[position : tag.start()])
            inside = True
    if not inside:
        kept.append(reply[position:])
    return "".join(kept)


def _readings(shape: Shape, candidates: Candidates) -> list[Reading]:
    """Return all answers of a shape: objects in a row are one, and so are those of a list that cannot be parsed."""
    if shape.of_text:
        fit = shape.read(candidates.text)
        return [] if fit is None else [Reading(fit.answer, shape.stage, 0, 0, lossy=fit.lossy)]
    groups: list[list[tuple[Candidate, tuple[Fit, str]]]] = []
    for found in candidates.values:
        if (fitting := _fit(found, shape)) is None:
            continue
        last = groups[-1][-1][0] if shape.joins and groups else None
        torn = last is not None and last.torn_from is not None and last.torn_from == found.torn_from
        if last is not None and (torn or _SEPARATORS.fullmatch(candidates.text, last.end, found.start)):
            groups[-1].append((found, fitting))
        else:
            groups.append([(found, fitting)])
    readings = [_reading(shape, group) for group in groups]
    if shape.joins and readings and candidates.broken_off is not None:
        readings[-1] = replace(readings[-1], lossy=True)
    return readings


def _fit(found: Candidate, shape: Shape) -> tuple[Fit, str] | None:
    """Return the answer that a value has in this shape, and the stage to report."""
    value, fit = found.value, shape.read(found.value)
    if fit is not None:
        return fit, shape.stage or found.stage
    if not isinstance(value, dict) or (shape.alone and len(value) > 1):
        return None
    # An object of which exactly one value has the shape; lossy beside another list.
    fitting = [fit for fit in map(shape.read, value.values()) if fit is not None]
    several = sum(isinstance(item, list | dict) for item in value.values()) > 1
    return (
        (Fit(fitting[0].answer, fitting[0].lossy or several), shape.stage or "wrapped") if len(fitting) == 1 else None
    )


def _reading(shape: Shape, group: Sequence[tuple[Candidate, tuple[Fit, str]]]) -> Reading:
    first, (fit, stage) = group[0]
    torn = shape.joins and any(found.torn_from is not None for found, _ in group)
    return Reading(
        fit.answer if len(group) == 1 else [item for _, (part, _) in group for item in part.answer],
        stage if len(group) == 1 else "lines",
        first.start,
        group[-1][0].end,
        any(found.stated for found, _ in group),
        torn or any(part.lossy for _, (part, _) in group),
    )


def _left_over(chosen: Reading, shapes: Sequence[Shape], candidates: Candidates) -> bool:
    """Return True if something like an answer, or an empty list, follows the chosen one and is not in it."""
    held = items_of(chosen.answer)
    return any(
        reading.start >= chosen.end
        and (reading.stated or shape.joins)
        and (bool(held) if shape.empty else not items_of(reading.answer) <= held)
        for shape in shapes
        for reading in _readings(shape, candidates)
    )


def _is_denied(chosen: Reading, text: str) -> bool:
    """Return True if the sentence of an answer denies it; for one without a position, if any sentence does."""
    if chosen.end == 0:
        return _DENIAL.search(text) is not None
    before = text[max(0, chosen.start - _SENTENCE) : chosen.start].rstrip()
    unfenced, fence, language = before.rpartition("```")
    if fence and (not language or language.isalnum()):
        before = unfenced.rstrip()
    sentences = _SENTENCE_END.split(before)[-1], _SENTENCE_END.split(text[chosen.end : chosen.end + _SENTENCE])[0]
    return _DENIAL.search(" [] ".join(sentences)) is not None


def _is_tool_call(value: Any) -> bool:
    """Return True for a tool call written as text: it holds names and values, and answers nothing."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_tool_call, value))
    return isinstance(value, dict) and (
        bool(value.keys() & {"arguments", "parameters", "tool_input"} and value.keys() & {"name", "tool", "function"})
        or bool(value.keys() & {"tool_calls", "function_call"})
    )


def choose(readings: Sequence[Reading], *, asked: bool) -> Reading:
    """Return the reading that counts. `asked`: all readings have the requested form.

    It is lossy if another reading differs: a draft cannot be distinguished from a part of the answer. In the requested
    form, a reading within a sentence after the answer is an explanation.
    """
    contents = {id(reading): items_of(reading.answer) for reading in readings}
    eligible = [reading for reading in readings if reading.stated] or list(readings)
    held, parts = eligible[0], list[Reading]()
    for reading in eligible[1:]:
        if contents[id(reading)] < contents[id(held)]:
            parts.append(reading)
        else:
            held, parts = reading, []
    items = [item for part in parts for item in contents[id(part)]]
    are_pieces = len(parts) > 1 and len(items) == len(set(items))
    if parts and held.stated and not are_pieces:
        held = parts[-1]
    compared = [r for r in readings if r.stated or r.start < held.start or not (asked and held.stated)]
    lost = any(not contents[id(reading)] <= contents[id(held)] for reading in compared)
    return replace(held, lossy=held.lossy or lost)


def items_of(answer: Any) -> frozenset[str]:
    """Return the items of an answer in a form that can be compared."""
    items = answer if isinstance(answer, list) else [answer]
    return frozenset(json.dumps(item, sort_keys=True, default=repr) for item in items)
