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
    for stage, parse in (("strict", parse_answer), ("literal", parse_literal)):
        if (whole := parse(text)) is not None:
            called = _is_call(whole.value)
            return [] if called else [Value(whole.value, stage, 0, len(text), whole.repeats)], called
    footnotes = {match.end() for match in _FOOTNOTE.finditer(text)}
    values = list[Value]()
    position = unclosed = 0
    unreadable = False
    while begin := _BEGINS_VALUE.search(text, position):
        start, end = begin.start(), _closing(text, begin.start())
        position = end or start + 1
        if end is None:
            unreadable, unclosed = True, unclosed + 1
        elif end not in footnotes:
            stage = "fenced" if _FENCE.search(text, max(0, start - 40), start) else "embedded"
            parsed = parse_answer(text[start:end])
            if parsed is None:
                parsed, stage = parse_literal(text[start:end]), "literal"
            if parsed is None or _is_call(parsed.value):
                unreadable = True
            else:
                values.append(Value(parsed.value, stage, start, end, parsed.repeats))
        if unclosed > _MOST_UNCLOSED or len(values) > _MOST_VALUES:
            return _joined(values, text), True
    return _joined(values, text), unreadable


def _closing(text: str, start: int) -> int | None:
    """Return the end of the brackets that open at `start`, outside quoted texts; None if they stay open."""
    depth = 0
    for _, token in zip(range(_MOST_BRACKETS), _INSIDE.finditer(text, start), strict=False):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if not depth:
            return token.end()
    return None


def _joined(values: Sequence[Value], text: str) -> list[Value]:
    joined = list[Value]()
    for value in values:
        last = joined[-1] if joined else value
        follows = joined and isinstance(value.value, dict) and (isinstance(last.value, dict) or last.stage == "lines")
        if follows and _BETWEEN_LINES.fullmatch(text, last.end, value.start):
            objects = last.value if last.stage == "lines" else [last.value]
            objects.append(value.value)
            joined[-1] = Value(objects, "lines", last.start, value.end, last.repeats or value.repeats)
        else:
            joined.append(value)
    return joined


def _is_call(value: Any) -> bool:
    """Return True for a tool call written as text: it holds names and values, and answers nothing."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_call, value))
    return isinstance(value, dict) and (
        bool(value.keys() & _CALL_INPUTS and value.keys() & {"name", "tool", "function", "action"})
        or bool(value.keys() & {"tool_calls", "function_call"})
    )


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
    text = text if parse_answer(text) is not None else visible_text(reply)
    extraction, plain = _extract(text, form), text.translate(_QUOTES)
    others = [(plain, form)] if plain != text else []
    others += [(plain, form._replace(read=form.read_other))] if form.read_other else []
    for other in others:
        if extraction.answer is None:
            extraction = _extract(*other)._replace(stage="repaired")
    return Extraction() if extraction.answer is None else extraction


def _extract(text: str, form: ReplyForm) -> Extraction:
    values, lossy = find_values(text)
    readings = [(value, _fit(value.value, form)) for value in values]
    prefixes = {} if form.prefix is None else {match.end(): match.start() for match in form.prefix.finditer(text)}
    answers = [
        (value, fit) for value, fit in readings if fit is not None and (form.prefix is None or value.start in prefixes)
    ]
    if not answers:
        return Extraction()
    chosen, fit = answers[-1]
    stage, before, after = chosen.stage, text[: chosen.start], text[chosen.end :]
    if form.prefix is not None:  # lists without it, before the answer, are explanations
        readings = [*answers, *(reading for reading in readings if reading[0].start > chosen.start)]
        stage = "embedded" if (text[: prefixes[chosen.start]] + after).strip() else "strict"

    def items(answer: Sequence[Any]) -> frozenset[tuple[str, ...]]:
        """Return the items of an answer as words; of rows only the fields."""
        return frozenset(
            tuple(str(item.get(field)) for field in form.fields) if isinstance(item, dict) else (str(item),)
            for item in answer
        )

    sentence = _SENTENCE_END.split(before[-_SENTENCE:].rstrip("\n `"))[-1]
    lossy |= chosen.repeats or fit.lossy or is_doubtful(sentence) or any(map(str.isalnum, _TAG.sub("", after)))
    right = items(fit.answer)
    lossy = lossy or any(
        isinstance(value.value, list) if other is None else items(other.answer) != right for value, other in readings
    )
    return Extraction(fit.answer, fit.stage or stage, lossy)


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
    chosen: Extraction | None = None
    lossy = chosen_named = False
    for name, item in value.items():
        named = name == form.member or name.lower().replace(" ", "_") in _ANSWER_NAMES
        member = _fit(item, form) if named or isinstance(item, list | dict) else None
        lossy |= item is None or item is False or (member is None and (named or isinstance(item, list)))
        if member is not None:
            lossy |= chosen is not None or is_doubtful(name)
            if named or not chosen_named:
                chosen, chosen_named = member if name == form.member else member._replace(stage="wrapped"), named
    return chosen and chosen._replace(lossy=chosen.lossy or lossy)
