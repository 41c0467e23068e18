"""Extract the answer from the text of a reply (docs/method.md, Answers), for all suites.

An answer is JSON or a Python literal: the whole reply, or the last value in it that has the form of an answer, alone or
in one object. A reading is *lossy* if the reply may mean another answer: it holds another value, or words after the
answer; brackets that cannot be read; a name twice in one object; words that doubt the answer. The model fallback is
asked if the parser reads nothing or is lossy: a model that sees the question and the reply, and never the target. If it
reads nothing either, the first reading counts.

Replies are untrusted: no text raises an error, and the time is linear in its length.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.answers import parse_answer, parse_literal
from graphwalk.models.chat import CallOptions, Message, Model, Reply

_MOST_VALUES = 20_000
_MOST_UNCLOSED = 5
_MOST_BRACKETS = 400_000
"""Beyond these numbers of values, of brackets that stay open and of brackets in one value, a text is unreadable."""
_BEGINS_VALUE = re.compile(
    r"\[\s*+(?:[\[{(\]\"'-]|\d|(?:true|false|null|None|True|False)\b)|(?<!\w)\{\s*+(?:[\"'}({]|-?\d|\Z)"
)
_FOOTNOTE = re.compile(r"(?<=[\w.,;\])]) ?\[\d{1,3}\](?!\s*[\]}])")
_INSIDE = re.compile(
    r"""[\[\]{}]
      | (?<=[\[{(,:\s]) "(?:[^"\\\n]|\\.)*+"     # quotes open a text only where JSON or Python could have one,
      | (?<=[\[{(,:\s]) '(?:[^'\\\n]|\\.)*+'     # so that an apostrophe in prose is none; no text spans lines
    """,
    re.VERBOSE,
)
_CALL_INPUTS = frozenset({"arguments", "parameters", "tool_input", "action_input"})
_FENCE = re.compile(r"```[\w+#.-]*\s*\Z")
_BETWEEN_LINES = re.compile(r"(?:[\s,*•-]|\d{1,6}[.)])*+")
"""Separators of objects that make up one list."""


class Value(NamedTuple):
    """A value at text[start:end]. `stage`: "strict" (the whole text), "literal", "fenced", "lines" or "embedded".

    `repeats`: an object in it has a name twice.
    """

    value: Any
    stage: str
    start: int
    end: int
    repeats: bool = False


def find_values(text: str) -> tuple[list[Value], bool]:
    """Return the values of a text in order, and True if it also has a tool call, or brackets that hold no value.

    A value within another one is not returned separately; objects that follow each other (JSON lines) are one list.
    """
    whole = _value_at(text, 0, len(text), "strict")
    if whole is not None:
        if _is_call(whole.value):
            return [], True
        return [whole], False

    footnotes = {match.end() for match in _FOOTNOTE.finditer(text)}
    values: list[Value] = []
    position = 0
    unclosed = 0
    is_unreadable = False
    while begin := _BEGINS_VALUE.search(text, position):
        start = begin.start()
        end = _closing(text, start)
        if end is None:
            is_unreadable = True
            unclosed += 1
            if unclosed > _MOST_UNCLOSED:
                break
            position = start + 1
            continue
        position = end
        # Ida commanded it [3].
        if end in footnotes:
            continue
        is_fenced = _FENCE.search(text, max(0, start - 40), start) is not None
        value = _value_at(text, start, end, "fenced" if is_fenced else "embedded")
        if value is None or _is_call(value.value):
            is_unreadable = True
            continue
        values.append(value)
        if len(values) > _MOST_VALUES:
            is_unreadable = True
            break
    return _joined(values, text), is_unreadable


def _value_at(text: str, start: int, end: int, stage: str) -> Value | None:
    """Return the value of a part of a text: `stage` if it is JSON, "literal" if it is Python, None if neither."""
    part = text[start:end]
    parsed = parse_answer(part)
    if parsed is not None:
        return Value(parsed.value, stage, start, end, parsed.repeats)
    parsed = parse_literal(part)
    if parsed is not None:
        return Value(parsed.value, "literal", start, end, parsed.repeats)
    return None


def _closing(text: str, start: int) -> int | None:
    """Return the end of the brackets that open at `start`, outside quoted texts; None if they stay open."""
    depth = 0
    for token in islice(_INSIDE.finditer(text, start), _MOST_BRACKETS):
        if token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1
        if depth == 0:
            return token.end()
    return None


def _joined(values: Sequence[Value], text: str) -> list[Value]:
    """Return the values with objects that follow each other as one list.

    ```
    1. {"name": "Ida"}
    2. {"name": "Bo"}
    ```
    """
    joined: list[Value] = []
    for value in values:
        if not joined or not _continues(joined[-1], value, text):
            joined.append(value)
            continue
        last = joined[-1]
        objects = last.value if last.stage == "lines" else [last.value]
        # The list is made once and grows, so that the time is linear.
        objects.append(value.value)
        joined[-1] = Value(objects, "lines", last.start, value.end, last.repeats or value.repeats)
    return joined


def _continues(last: Value, value: Value, text: str) -> bool:
    """Return True if a value is the next object of a list that `last` is, or begins."""
    if not isinstance(value.value, dict):
        return False
    if last.stage != "lines" and not isinstance(last.value, dict):
        return False
    return _BETWEEN_LINES.fullmatch(text, last.end, value.start) is not None


def _is_call(value: Any) -> bool:
    """Return True for a tool call written as text: it holds names and values, and answers nothing."""
    if isinstance(value, list):
        return bool(value) and all(_is_call(item) for item in value)
    if not isinstance(value, dict):
        return False
    # {"tool_calls": […]}
    if value.keys() & {"tool_calls", "function_call"}:
        return True
    # {"name": "get_node", "arguments": {"key": "k7q2"}}
    has_name = bool(value.keys() & {"name", "tool", "function", "action"})
    has_inputs = bool(value.keys() & _CALL_INPUTS)
    return has_name and has_inputs


_THINK_NAME = r"(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)"
_THINK_END = re.compile(rf"</{_THINK_NAME}>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_THINK = re.compile(rf"(?:<{_THINK_NAME}>|\[THINK\]|◁think▷).*?(?:{_THINK_END.pattern}|\Z)", re.IGNORECASE | re.DOTALL)
_CHANNEL = re.compile(r"<\|channel\|>(?:analysis|commentary).*?(?=<\|channel\|>final|\Z)", re.DOTALL)
_TOOL_BLOCK = re.compile(r"<(tool_call|tool_response|function_call)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_TURN = re.compile(r"<\|(?:im_end|eot_id|endoftext|return)\|>|</s>|<end_of_turn>")
_TEMPLATE_TOKEN = re.compile(r"<\|[\w ]{1,40}\|>|<s>|</?(?:bos|eos|start_of_turn|tool_call)>")
MOST_CHARACTERS = 2_000_000
"""Length of the longest reply that is read, about the context of the largest models."""
TOO_LONG = "too_long"
"""Stage of a longer reply, which has no answer."""
_MODEL_CHARACTERS = 50_000
"""Number of characters at the end of a reply that the model reads; answers are at the end."""
_ANSWER_NAMES = frozenset({"answer", "answers", "final", "final_answer", "output", "response", "result", "results"})
"""Names of an object's member that holds the answer, whatever else the object holds."""
_DOUBT = re.compile(
    r"(?:\b(?:not|never|cannot)|n['’]t)\b(?:[^\n]{0,80}\b(?:answer|right|correct|sure|certain)|\W*\Z)|\bor\W*\Z|~~"
    r"|\b(?:either|neither|except|instead of|rather than|maybe|perhaps|possibl[ye]|could|might|would|unsure|guess|wrong"
    r"|incorrect|false|draft|example|incomplete|partial|so far|excluded|rejected|omitted|ruled out|left out|visited"
    r"|candidates?)\b",
    re.IGNORECASE,
)
"""Words that deny or doubt the answer in their sentence, or the answer under their name."""
_SENTENCE = 200
"""Characters before an answer that may doubt it."""
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_TAG = re.compile(r"</\w+>")
_QUOTES = str.maketrans("“”„‟", '""""')


class Extraction(NamedTuple):
    """An answer read from a reply or from a value in it, None if there is none.

    `stage` names how: "strict", …, "model", or `TOO_LONG`; None: the value has the requested form. `lossy`: the reply
    may mean another answer.
    """

    answer: Any = None
    stage: str | None = None
    lossy: bool = False

    @property
    def sure(self) -> bool:
        """Return False if the model fallback has something to add."""
        return self.answer is not None and not self.lossy


class ReplyForm(NamedTuple):
    """The form of the answers of a task.

    `read` returns the answer in a value, or None. `member`: name of the object's member that holds the answer in the
    requested form. `fields`: names of the fields of rows. `prefix`: text that an answer must follow. `read_other`: as
    `read`, for replies in which `read` finds nothing.
    """

    read: Callable[[Any], Extraction | None]
    member: str | None = None
    fields: tuple[str, ...] = ()
    prefix: re.Pattern[str] | None = None
    read_other: Callable[[Any], Extraction | None] | None = None


def extract(reply: str, form: ReplyForm) -> Extraction:
    """Return the answer in a reply. Typographic quotes and `form.read_other` are tried where nothing else is found."""
    text = reply.strip().lstrip("\ufeff")
    if parse_answer(text) is None:
        text = visible_text(reply)
    extraction = _extract(text, form)
    if extraction.answer is not None:
        return extraction

    plain = text.translate(_QUOTES)
    if plain != text:
        extraction = _extract(plain, form)
        if extraction.answer is not None:
            return extraction._replace(stage="repaired")
    if form.read_other is not None:
        extraction = _extract(plain, form._replace(read=form.read_other))
        if extraction.answer is not None:
            return extraction._replace(stage="repaired")
    return Extraction()


class _Reading(NamedTuple):
    """A value of a text with the answer in it, None if it has none."""

    value: Value
    fit: Extraction | None


def _extract(text: str, form: ReplyForm) -> Extraction:
    values, is_lossy = find_values(text)
    readings = [_Reading(value, _fit(value.value, form)) for value in values]
    answers = [reading for reading in readings if reading.fit is not None]
    prefix_before: dict[int, int] = {}
    """Place where a prefix ends, and its value begins → where the prefix begins."""
    if form.prefix is not None:
        # "Distances: [(0, 1, 4.0)]" gives 11 → 0
        for match in form.prefix.finditer(text):
            prefix_before[match.end()] = match.start()
        answers = [reading for reading in answers if reading.value.start in prefix_before]
    if not answers:
        return Extraction()

    chosen, fit = answers[-1]
    assert fit is not None
    before = text[: chosen.start]
    after = text[chosen.end :]
    stage = chosen.stage
    if form.prefix is not None:
        other_text = text[: prefix_before[chosen.start]] + after
        stage = "embedded" if other_text.strip() else "strict"
        # Lists without a prefix are explanations before the answer, and may be another answer after it.
        later = [reading for reading in readings if reading.value.start > chosen.start]
        readings = answers + later

    *_, sentence = _SENTENCE_END.split(before[-_SENTENCE:].rstrip("\n `"))
    has_words_after = any(character.isalnum() for character in _TAG.sub("", after))
    if chosen.repeats or fit.lossy or is_doubtful(sentence) or has_words_after:
        is_lossy = True
    if not is_lossy and len(readings) > 1:
        is_lossy = _differ(readings, fit, form)
    return Extraction(fit.answer, fit.stage or stage, is_lossy)


def _differ(readings: Sequence[_Reading], chosen: Extraction, form: ReplyForm) -> bool:
    """Return True if another value of a reply has another answer, or is a list that cannot be read."""
    chosen_items = _items(chosen.answer, form)
    for value, fit in readings:
        if fit is None and isinstance(value.value, list):
            return True
        if fit is not None and _items(fit.answer, form) != chosen_items:
            return True
    return False


def _items(answer: Sequence[Any], form: ReplyForm) -> frozenset[tuple[str, ...]]:
    """Return the items of an answer as words; of rows only the fields."""
    items: set[tuple[str, ...]] = set()
    for item in answer:
        if isinstance(item, dict):
            items.add(tuple(str(item.get(field)) for field in form.fields))
        else:
            items.add((str(item),))
    return frozenset(items)


async def extract_with_model(model: Model, question: str, reply: str, answer_format: str, agent: AgentConfig) -> Reply:
    """Return a model's version of a reply in the asked format, for the parser. Raise ModelError if the call fails."""
    tail = strip_thinking(reply)[-_MODEL_CHARACTERS:]
    prompt = agent.render("extractor.j2", question=question, reply=tail, answer_format=answer_format)
    return await model.complete([Message("user", prompt)], (), CallOptions())


def visible_text(reply: str) -> str:
    """Return a reply without thoughts, tool calls and template tokens, up to the token that ends the model's turn."""
    text = _CHANNEL.sub("", strip_thinking(reply).lstrip("\ufeff"))
    end = _END_OF_TURN.search(text)
    if end is not None and text[: end.start()].strip():
        text = text[: end.start()]
    return _TEMPLATE_TOKEN.sub("", _TOOL_BLOCK.sub("", text)).strip()


def strip_thinking(reply: str) -> str:
    """Return the reply without `<think>…</think>`: a lone end closes a block from the start, a lone begin the rest."""
    return _THINK_END.split(_THINK.sub("", reply))[-1]


def is_doubtful(text: str) -> bool:
    """Return True if words beside an answer, for example the name of its member, deny or doubt it."""
    return _DOUBT.search(text) is not None


def _fit(value: Any, form: ReplyForm) -> Extraction | None:
    """Return the answer in a value, or in the member of an object that holds it."""
    fit = form.read(value)
    if fit is not None or not isinstance(value, dict):
        return fit
    # {"reasoning": "…", "answer": [{"name": "Ida"}]}
    chosen: Extraction | None = None
    is_chosen_named = False
    is_lossy = False
    for name, item in value.items():
        is_named = name == form.member or name.lower().replace(" ", "_") in _ANSWER_NAMES
        member = None
        if is_named or isinstance(item, list | dict):
            member = _fit(item, form)

        # {"answer": null}, {"is_complete": false}
        if item is None or item is False:
            is_lossy = True
        if member is None:
            if is_named or isinstance(item, list):
                is_lossy = True
            continue
        if chosen is not None or is_doubtful(name):
            is_lossy = True
        # The last member counts, but not after one that is named as the answer.
        if is_named or not is_chosen_named:
            chosen = member if name == form.member else member._replace(stage="wrapped")
            is_chosen_named = is_named
    if chosen is None:
        return None
    return chosen._replace(lossy=chosen.lossy or is_lossy)
