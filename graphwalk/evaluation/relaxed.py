"""JSON as people and models write it: comments, trailing commas, names without quotes, brackets of other scripts."""

import json
import re
from collections.abc import Mapping
from typing import Any

from graphwalk.evaluation.values import LONGEST_LITERAL, parse_answer, parse_literal

_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*+["\\]?+|'(?:[^'\\\n]|\\.)*+['\\]?+)
      | (?P<comment>//[^\n]*+|/\*.*?(?:\*/|\Z))
      | (?P<comma>,(?=\s*+[\]}]))
      | (?P<name>\b[A-Za-z_]\w*+(?=\s*+:))
      | (?P<word>\b(?:null|true|false)\b)
    """,
    re.VERBOSE | re.DOTALL,
)
_PYTHON_WORDS = {"null": "None", "true": "True", "false": "False"}
_FORMS = {
    "[": "［【〔", "]": "］】〕", "{": "｛", "}": "｝", "(": "（", ")": "）",
    ",": "，、،", ":": "：", ";": "；", ".": "．",
    '"': "“”„‟″＂", "'": "‘’‚", "-": "−–", " ": "\u00a0\u200b\u2009\u202f\u3000\ufeff",
    **{str(digit): chr(ord("０") + digit) for digit in range(10)},
}  # fmt: skip
_ASCII_FORMS = {ord(other): form for form, others in _FORMS.items() for other in others}


def ascii_forms(text: str) -> str:
    """The text with brackets, quotes, commas, digits and spaces of other scripts replaced, character by character."""
    return text if text.isascii() else text.translate(_ASCII_FORMS)


def parse_relaxed(text: str) -> Any:
    """The value of a text in its `ascii_forms` and is neither JSON nor a Python literal; None where it has none."""
    if len(text) > LONGEST_LITERAL:
        return None
    if '{\\"' in text or '[\\"' in text:
        text = text.replace('\\"', '"')
    value = parse_answer(_strict(text, {}))
    return parse_literal(_strict(text, _PYTHON_WORDS)) if value is None else value


def _strict(text: str, words: Mapping[str, str]) -> str:
    def replaced(token: re.Match[str]) -> str:
        if token["comment"] or token["comma"]:
            return " "
        return json.dumps(token["name"]) if token["name"] else words.get(token[0], token[0])

    return _TOKEN.sub(replaced, text)
