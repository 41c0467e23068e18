"""Extract the answer from the text of a reply (docs/method.md, Answers), for all suites.

An answer is JSON or a Python literal: the whole reply, or the last value in it that has the form of an answer, alone or
in one object. A reading is *lossy* if the reply may mean another answer: it holds another value, a boxed or labelled
word, or a later table that differs; brackets that cannot be read; a name twice in one object; words that deny the
answer or take it back. The model fallback is asked if the parser reads nothing or is lossy: a model that sees the
question and the reply, and never the target. If it reads nothing either, the first reading counts.

Replies are untrusted: no text raises an error, and the time is linear in its length.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphwalk.config.agent import AgentConfig
from graphwalk.evaluation.replies import Value, find_claims, find_values
from graphwalk.evaluation.values import parse_answer
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
_MODEL_CHARACTERS = 50_000
"""Number of characters at the end of a reply that the model reads; answers are at the end."""
_ANSWER_NAMES = frozenset({"answer", "answers", "final", "final_answer", "output", "response", "result", "results"})
"""Names of an object's member that holds the answer, whatever else the object holds."""
_BETWEEN_LINES = re.compile(r"(?:[\s,*•-]|\d{1,6}[.)])*+")
"""Separators of objects that make up one list."""
_MOST_WORDS = 200_000
"""Characters at the end of a reply in which boxes, labels and doubts are looked for."""
_SENTENCE = 200
"""Characters on either side of an answer that may deny it."""
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot)|n['’]t)\b(?:[^\n]{0,80}\b(?:answer|right|correct|sure|certain|confirm)|\W*\0)"
    r"|\0\W*(?:is|are|was|were)(?: not\b|n['’]t\b)|\bor\W*\0|\0\W*or\b|~~\0"
    r"|\b(?:either|neither|rather than|instead of|except|maybe|perhaps|possibl[ye]|could|might|would|unsure|unlikely|doubt"
    r"|untrue|wrong|incorrect|false|draft|example|incomplete|excluded|rejected|omitted|ruled out|left out|visited"
    r"|candidates?)\b",
    re.IGNORECASE,
)
"""A sentence that does not state the answer in it, which is replaced by a NUL character."""
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|however|on second thought|hold on|hmm|scratch that|disregard|ignore|sorry|apologi[sz]e|mistake"
    r"|correct(?:ed|ion)|revised?|double-check|wrong|incorrect|instead|should (?:be|have)|possible|might|need to)\b",
    re.IGNORECASE,
)
"""Words that take back an answer before them."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer read from a reply, None if there is none. `stage` names how: "strict", "fenced", …, "model".

    `lossy`: the reply may mean another answer.
    """

    answer: Any = None
    stage: str | None = None
    lossy: bool = False

    @property
    def sure(self) -> bool:
        """Return False if the model fallback has something to add."""
        return self.answer is not None and not self.lossy


class Fit(NamedTuple):
    """The answer in a value. `stage`: name of the form if it is not the requested one. `lossy`: as in `Extraction`."""

    answer: Any
    stage: str | None = None
    lossy: bool = False


class Form(NamedTuple):
    """The form of the answers of a task.

    `read` returns the answer in a value, or None. `member`: name of the object's member that holds the answer in the
    requested form. `fields`: names of the fields of rows. `prefix`: text that an answer must follow.
    """

    read: Callable[[Any], Fit | None]
    member: str | None = None
    fields: tuple[str, ...] = ()
    prefix: re.Pattern[str] | None = None


class _Reading(NamedTuple):
    value: Value
    fit: Fit | None
    """None for a value that has not the form of an answer, though it may mean one."""


def extract(reply: str, form: Form) -> Extraction:
    """Return the answer in a reply."""
    text = reply.strip().lstrip("\ufeff")
    text = text if parse_answer(text) is not None else visible_text(reply)
    values, unreadable = find_values(text)
    readings = _with_lines([_Reading(one, _fit(one.value, form)) for one in values if not _is_call(one.value)], text)
    answers = [one for one in readings if one.fit is not None and _start(text, one.value, form) is not None]
    if not answers:
        return Extraction()
    value, fit = answers[-1]
    assert fit is not None
    # Where answers have a prefix, lists before the answer are explanations.
    rivals = (
        readings if form.prefix is None else [*answers, *(one for one in readings if one.value.start > value.start)]
    )
    lossy = (
        unreadable
        or value.repeats
        or fit.lossy
        or any(_differs(rival, fit.answer, form) for rival in rivals)
        or _is_doubted(text, values, value, fit.answer, form)
    )
    stage = fit.stage or value.stage
    if form.prefix is not None:
        alone = not text[: _start(text, value, form)].strip() and not text[value.end :].strip()
        stage = "strict" if alone else "embedded"
    return Extraction(fit.answer, stage, lossy)


async def extract_with_model(
    model: Model, question: str, reply: str, answer_format: str, agent: AgentConfig = AgentConfig()
) -> Reply:
    """Return a model's version of a reply in the asked format, for the parser. Raise ModelError if the call fails."""
    tail = strip_thinking(reply)[-_MODEL_CHARACTERS:]
    prompt = agent.render("extractor.j2", question=question, reply=tail, answer_format=answer_format)
    return await model.complete([Message("user", prompt)], (), CallOptions())


def visible_text(reply: str) -> str:
    """Return a reply without thoughts, tool calls and tokens of chat templates.

    Text after the token that ends a turn is dropped: there a model plays the others' parts.
    """
    text = _CHANNEL.sub("", strip_thinking(reply).lstrip("\ufeff"))
    end = _END_OF_TURN.search(text)
    if end is not None and text[: end.start()].strip():
        text = text[: end.start()]
    return _TEMPLATE_TOKEN.sub("", _TOOL_BLOCK.sub("", text)).strip()


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


def _fit(value: Any, form: Form) -> Fit | None:
    """Return the answer in a value, or in the member of an object that holds it."""
    fit = form.read(value)
    if fit is not None or not isinstance(value, dict):
        return fit
    chosen: Fit | None = None
    lossy = chosen_named = False
    for name, item in value.items():
        named = name == form.member or name.lower().replace(" ", "_") in _ANSWER_NAMES
        member = _fit(item, form) if named or isinstance(item, list | dict) else None
        lossy |= item is None or item is False or (member is None and (named or isinstance(item, list)))
        if member is not None:
            lossy |= chosen is not None
            if named or not chosen_named:
                chosen, chosen_named = member if name == form.member else member._replace(stage="wrapped"), named
    return chosen and chosen._replace(lossy=chosen.lossy or lossy)


def _with_lines(readings: Sequence[_Reading], text: str) -> list[_Reading]:
    """Return the readings with the objects that follow each other as one of stage "lines": JSON lines."""
    groups: list[list[_Reading]] = []
    for one in readings:
        last = groups[-1][-1] if groups else None
        is_line = last is not None and _is_row(one) and _is_row(last)
        if is_line and _BETWEEN_LINES.fullmatch(text, last.value.end, one.value.start):
            groups[-1].append(one)
        else:
            groups.append([one])
    return [group[0] if len(group) == 1 else _lines(group) for group in groups]


def _is_row(reading: _Reading) -> bool:
    return isinstance(reading.value.value, dict) and reading.fit is not None and reading.fit.stage == "bare"


def _lines(group: Sequence[_Reading]) -> _Reading:
    values, fits = [one.value for one in group], [one.fit for one in group if one.fit is not None]
    rows = [row for fit in fits for row in fit.answer]
    value = values[0]._replace(end=values[-1].end, repeats=any(one.repeats for one in values))
    return _Reading(value, Fit(rows, "lines", any(fit.lossy for fit in fits)))


def _is_call(value: Any) -> bool:
    """Return True for a tool call written as text: it holds names and values, and answers nothing."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_call, value))
    return isinstance(value, dict) and (
        bool(value.keys() & {"arguments", "parameters", "tool_input"} and value.keys() & {"name", "tool", "function"})
        or bool(value.keys() & {"tool_calls", "function_call"})
    )


def _start(text: str, value: Value, form: Form) -> int | None:
    """Return where the answer in a value begins, with its prefix; None if it lacks the prefix."""
    if form.prefix is None:
        return value.start
    before = form.prefix.finditer(text, max(0, value.start - _SENTENCE), value.start)
    return next((match.start() for match in before if match.end() == value.start), None)


def _differs(reading: _Reading, answer: Any, form: Form) -> bool:
    """Return True if a value may mean another answer; an object of another form is no answer."""
    if reading.fit is None:
        return isinstance(reading.value.value, list)
    return _items(reading.fit.answer, form) != _items(answer, form)


def _items(answer: Sequence[Any], form: Form) -> frozenset[tuple[str, ...]]:
    """Return the items of an answer as words; of rows only the fields."""
    return frozenset(
        tuple(str(item.get(field)) for field in form.fields) if isinstance(item, dict) else (str(item),)
        for item in answer
    )


def _is_doubted(text: str, values: Sequence[Value], chosen: Value, answer: Any, form: Form) -> bool:
    """Return True if the text around the values denies the answer, takes it back or claims another one."""
    parts, position = list[str](), 0
    for value in values:
        parts += [text[position : value.start], "\0" * (value.end - value.start)]
        position = value.end
    words = "".join([*parts, text[position:]])
    before, after = words[max(0, chosen.start - _SENTENCE) : chosen.start].rstrip("\n `\0"), words[chosen.end :]
    sentence = f"{_SENTENCE_END.split(before)[-1]} \0 {_SENTENCE_END.split(after[:_SENTENCE])[0]}"
    if _DENIED.search(sentence) or _TAKEN_BACK.search(after[-_MOST_WORDS:]):
        return True
    items = _items(answer, form)
    names = frozenset(name for item in items for name in item)
    cut = max(0, len(words) - _MOST_WORDS)
    return any(
        (claim.start + cut > chosen.start and not (names <= claim.words and claim.rows == len(items)))
        if claim.rows
        else claim.words != names
        for claim in find_claims(words[cut:], form.fields)
    )
