"""The meaning of a refusal, by its status and its words, and the next step.

A conversation that is too long for the model is scored as the agent's failure. So a refusal is an overflow only if an
error of the model's API refuses the *input alone*. A limit of a proxy is none, nor is an output limit that does not fit
beside the input.
"""

import re
from enum import StrEnum

TEXT_HINT = "describe the tools in the prompt instead: -o agent.tool_format=text"
"""For a server or model without native tool calls, or without JSON schemas."""


class Refusal(StrEnum):
    """The cause of a refusal."""

    CONTEXT_OVERFLOW = "context_overflow"
    OUTPUT_LIMIT = "output_limit"
    """`options.max_output_tokens` is larger than the model allows, or than the window beside the input."""
    BODY_SIZE = "body_size"
    """The request has too many bytes for a proxy or the server."""
    TOOLS = "tools"
    """The server or the model has no native tool calls, or no JSON schemas."""
    FIELD = "field"
    """The server does not know a field of the request."""


_BLAMES_REQUEST = frozenset({400, 413, 422})
"""Statuses with which the words of a message decide."""
_OVERFLOW_CODES = ("context_length_exceeded", "exceed_context_size", "context_window_exceeded")
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|\?xml)", re.IGNORECASE)
_OF_TOKENS = re.compile(
    r"context.{0,3}(?:length|window|size|limit)|context the overflows|max_(?:seq_len|model_len|num_tokens)"
    r"|(?:model|sequence|prompt|input|query)'?s?.{0,2}(?:max(?:imum)? )?(?:length|tokens?)\b|token (?:count|limit)"
    r"|tokens? (?:allowed|overall)|(?:message|input|prompt) tokens|too many tokens|prompts? (?:is |are )?too long"
    r"|(?:inputs?|conversation|messages?) (?:is |are )?too long|prompt (?:exceeds|contains|length)|max(?:imum)? prompt"
    r"|`?inputs`? (?:tokens|must)|number of (?:input |prompt |text )?tokens"
    r"|length of (?:the )?(?:messages|prompt|input)|tokens in (?:the |your )?(?:request|prompt|messages|input)"
    r"|上下文|输入|提示词|prompt 超|token 数",
    re.IGNORECASE,
)
"""The tokens of a conversation, in the words of a server."""
_TOO_MANY = re.compile(
    r"exceed|too (?:long|large|many)|(?:longer|larger|greater) than|(?:more|less) than|no more than|maximum|at most"
    r"|cannot be|reduce|shorten|overflows|not enough|should be|should not|must be|must not|over the limit|out of range"
    r"|beyond|range of|超长|超出|超过|过长",
    re.IGNORECASE,
)
_RATE = re.compile(r"per (?:minute|second|hour|day)|rate.?limit|\bTPM\b|\bRPM\b|quota", re.IGNORECASE)
_OUTPUT_FIELD = re.compile(
    r"max_?(?:completion_?|new_?|output_?)?tokens|maximum tokens (?:you|value)|(?:completion|output) tokens",
    re.IGNORECASE,
)
_OUTPUT = re.compile(rf"{_OUTPUT_FIELD.pattern}|completion|output|generation|generating|generated?\b", re.IGNORECASE)
"""The tokens of a reply, in the words of a server."""
_NUMBER = r"(\d[\d,]*)(?:\.0)?"
_INPUT_NUMBERS = re.compile(
    rf"{_NUMBER} (?:tokens )?(?:in|from|of) (?:the |your )?(?:input |text |tool |image )?"
    rf"(?:messages|prompt|inputs?|functions|tools)\b"
    rf"|{_NUMBER} `?(?:input|inputs|prompt)`? tokens|exceed context limit: {_NUMBER} \+"
    rf"|prompt (?:is|has|contains|length) \(?{_NUMBER}|input tokens:? \(?{_NUMBER}",
    re.IGNORECASE,
)
"""`3500 in the messages`, `200 in the functions`, `1210 input tokens`, `188240 + 21333 > 200000`."""
_WINDOW_NUMBER = re.compile(
    rf"(?:context.(?:length|window|limit|size)|model length|maximum supported sequence length|must be <=)"
    rf"[^\d+]{{0,30}}{_NUMBER}(?! \+)|\+ \d+ > {_NUMBER}",
    re.IGNORECASE,
)
"""`maximum context length is 4096 tokens`, `must be <= 4096`, `188240 + 21333 > 200000`."""

_NAME_BEFORE, _NAME_AFTER = r"(?<![\w./:-])", r"(?![\w/:-])"
_TOOL_WORDS = (
    rf"{_NAME_BEFORE}(?:tools?|tool[ _-]?(?:use|calls?|calling|choice)|functions?|function[ _-]?(?:calls?|calling)"
    rf"|grammar|response[ _.]?format|json[ _]schema|guided[ _](?:json|decoding)|structured[ _-]?outputs?){_NAME_AFTER}"
)
_LACKS = (
    r"not (?:currently )?(?:support|enabled|available|allowed|implemented)|unsupported|unavailable|disabled|requires"
    r"|no endpoints found that support|(?:does|do|can)(?: not|n't|not) (?:support|use|have|accept)"
    r"|failed to (?:parse|compile)"
)
_NO_TOOLS = re.compile(
    rf"(?:{_TOOL_WORDS}).{{0,80}}(?:{_LACKS})|(?:{_LACKS}).{{0,60}}(?:{_TOOL_WORDS})", re.I | re.DOTALL
)
_UNKNOWN_FIELD = re.compile(
    r"(?:unsupported|unknown|unrecognized|unexpected|extra)\b.{0,30}\b(?:name|field|parameter|param|argument|inputs?|key"
    r"|property)|not (?:permitted|allowed|supported)|(?:is|are) unsupported|cannot find field|does not support",
    re.IGNORECASE,
)
_FIELDS = re.compile(
    r"\b(temperature|top_p|max_tokens|max_completion_tokens|max_output_tokens|reasoning_effort|reasoning|seed|stop|store"
    r"|include|parallel_tool_calls|tool_choice|stream_options|response_format)\b"
)
"""The fields that are sent, where a user sets them or a default does."""


def refusal_of(status: int, code: str, message: str) -> Refusal | None:
    """Return what a server refuses, None for another failure. `code`: the code or the type of its error."""
    if status == 413 and (_PAGE.match(message) or not _OF_TOKENS.search(message)):
        return Refusal.BODY_SIZE
    if code.startswith(_OVERFLOW_CODES):
        return Refusal.OUTPUT_LIMIT if _input_fits(message) else Refusal.CONTEXT_OVERFLOW
    if status in _BLAMES_REQUEST and not _PAGE.match(message) and not _RATE.search(message):
        refused_length = _refused_length(message)
        if refused_length is not None:
            return refused_length
    if status == 413:
        return Refusal.BODY_SIZE
    if not 400 <= status < 500 and status != 501:
        return None
    if _NO_TOOLS.search(message):
        return Refusal.TOOLS
    if status in _BLAMES_REQUEST and _UNKNOWN_FIELD.search(message) and _FIELDS.search(message):
        return Refusal.FIELD
    return None


def _refused_length(message: str) -> Refusal | None:
    """Return the limit of tokens that a message names: of the input alone, or with or of the output."""
    if not _TOO_MANY.search(message):
        return None
    names_output = bool(_OUTPUT.search(message))
    if names_output:
        fits = _input_fits(message)
        if fits is False:
            return Refusal.CONTEXT_OVERFLOW
        names_limit = _OF_TOKENS.search(message) or _OUTPUT_FIELD.search(message)
        if fits is True or names_limit:
            return Refusal.OUTPUT_LIMIT
        return None
    return Refusal.CONTEXT_OVERFLOW if _OF_TOKENS.search(message) else None


def _input_fits(message: str) -> bool | None:
    """Return whether the input alone fits by the numbers of a message, None if it lacks them.

    `maximum context length is 4096 tokens. However, you requested 5000 (3500 in the messages, 1500 in the completion)`
    is True.
    """
    inputs = [_first_number(match) for match in _INPUT_NUMBERS.finditer(message)]
    windows = [_first_number(match) for match in _WINDOW_NUMBER.finditer(message)]
    if not inputs or not windows:
        return None
    return sum(inputs) < windows[-1]


def _first_number(match: re.Match[str]) -> int:
    number = next(group for group in match.groups() if group)
    return int(number.replace(",", ""))


def hint_for(refusal: Refusal | None, status: int, message: str) -> str:
    """Return the next step after a refusal, "" if only its status tells."""
    if refusal is Refusal.OUTPUT_LIMIT:
        return "allow fewer tokens for a reply, or another window of the server: -o options.max_output_tokens=…"
    if refusal is Refusal.BODY_SIZE:
        return "raise the largest body that the server accepts, or a proxy before it (nginx: client_max_body_size)"
    if refusal is Refusal.TOOLS:
        return TEXT_HINT
    if refusal is Refusal.FIELD:
        field = _FIELDS.search(message)
        return f"leave the field out: -o options.extra.{field[1] if field else 'FIELD'}=null"
    return ""
