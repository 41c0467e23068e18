"""Sanitising of foreign text: replace known secrets and control characters, escape markup.

The secrets are values of environment variables. GraphWalk's own names, settings and record keys contain none of them,
and a password that is an ordinary word must not change a model's answer.
"""

import base64
import html
import json
import re
import traceback
import unicodedata
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

SECRET_NAME = re.compile(r"(key|token|secret|password|authorization)$", re.IGNORECASE)
"""The end of the name of an environment variable, or of a field, that holds a secret."""
_SHORTEST_SECRET = 4
_LONG_SECRET = 20
_PLACEHOLDERS = frozenset(
    ("none", "null", "true", "false", "empty", "dummy", "local", "test", "ollama", "vllm", "lm-studio", "not-needed")
)
"""Values, in any case, of keys for servers that need none."""
_SHORT_SECRET = 8
"""Characters; shorter values may be part of any word."""
_URL_USER = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_LONGEST_QUOTE = 120
"""Characters of a value that are repeated to a model; a 10 MB argument is not sent back to it."""
_LONGEST_ERROR = 600
"""Characters, most of them from a server; some servers send a web page."""
_HIDDEN = "***"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")
_LATEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
        "[": "$[$",
        "*": "$*$",
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\^{}",
        '"': r"\char34{}",
        "…": r"\dots{}",
        "–": r"\textendash{}",
        "−": "$-$",
        "Δ": r"$\Delta$",
        "→": r"$\to$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
    }
)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>&|!#~$])")
_BARE_ADDRESS = re.compile(r"(?<=/)(?=/)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
"""The places inside https://…, www.… and …@… without which no renderer makes a link of them."""
_NOTHING = "<!-- -->"
"""A comment, which shows nothing. Renderers see through a backslash before the @ of a mail address."""


class Secrets:
    """The secrets among some environment variables, with functions that replace them in text.

    They are the values of variables named …KEY, …TOKEN, …SECRET, …PASSWORD and …AUTHORIZATION, and the passwords of
    addresses.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables: dict[str, str] = {}
        """Secret in one of its forms → variable."""
        for name, setting in variables.items():
            # neo4j:secret of bolt://neo4j:secret@host, token of redis://token@host
            login = setting.partition("://")[2].rpartition("@")[0]
            for value in _secrets_in(name, setting, login):
                text = value.strip()
                if len(text) >= _SHORTEST_SECRET and text.lower() not in _PLACEHOLDERS:
                    self._variables |= dict.fromkeys(_forms(value), name)
            for pair in _logins_in(name, login, variables):
                self._variables[_basic(pair)] = name
        self._all = _pattern(self._variables)
        self._certain = _pattern(value for value in self._variables if not _may_be_a_word(value))

    def redact(self, text: str) -> str:
        """Replace secrets, and the user part of addresses, in a message of a server or a library."""
        if self._all is not None:
            text = self._all.sub(_HIDDEN, text)
        return _URL_USER.sub(_HIDDEN, text)

    def redact_certain(self, text: str) -> str:
        """Replace secrets in the text of a model, except those that may be a word or a number of an answer."""
        if self._certain is None:
            return text
        return self._certain.sub(_HIDDEN, text)

    def redact_error(self, text: str) -> str:
        """Return an error message of a server or a library on one short line, without secrets.

        Secrets are replaced before the text is cut: half a key would not be recognised.
        """
        return one_line(self.redact(text), _LONGEST_ERROR)

    def without_secrets(self, error: BaseException) -> BaseException:
        """Return an error, or one of its text alone if a secret is in it or in its causes, which handlers record."""
        whole = "".join(traceback.format_exception(error))
        if self.redact(whole) == whole:
            return error
        return RuntimeError(self.redact_error(f"{type(error).__name__}: {error}"))

    def variable_in(self, text: str) -> str | None:
        """Return the name of a variable whose secret is in a text, or None."""
        if self._all is None:
            return None
        match = self._all.search(text)
        return None if match is None else self._variables[match[0]]


def secret_fields(settings: Any, place: str = "", *, in_secret: bool = False) -> Iterator[str]:
    """Yield the dotted place of each text in nested settings whose name is that of a secret, or is in such a field.

    `{"api_key": ["sk-1"], "a": {"password": {"value": "x"}}}` has `api_key.0` and `a.password.value`.
    """
    items = settings.items() if isinstance(settings, Mapping) else enumerate(settings)
    for name, value in items:
        inner = f"{place}.{name}" if place else str(name)
        is_secret = in_secret or SECRET_NAME.search(str(name)) is not None
        if isinstance(value, Mapping | list | tuple):
            yield from secret_fields(value, inner, in_secret=is_secret)
        elif isinstance(value, str) and value and is_secret:
            yield inner


def _secrets_in(name: str, value: str, login: str) -> Iterator[str]:
    """Yield the value of a variable that is named as a secret, and the password of one that is an address.

    `login`: what is before the host in the address, "" without one.
    """
    if SECRET_NAME.search(name):
        yield value

    if login:
        user, _, password = login.partition(":")
        secret = password or user
        yield secret
        yield urllib.parse.unquote(secret)


def _logins_in(name: str, login: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield `user:password` of a variable: of an address (its `login`), or of X_PASSWORD with X_USERNAME or X_USER."""
    if login:
        user, _, password = login.partition(":")
        yield f"{urllib.parse.unquote(user)}:{urllib.parse.unquote(password)}"
    if SECRET_NAME.search(name):
        prefix = name.rpartition("_")[0]
        for user_name in (f"{prefix}_USERNAME", f"{prefix}_USER"):
            if user_name in variables:
                yield f"{variables[user_name]}:{variables[name]}"


def _basic(login: str) -> str:
    """Return a login as HTTP's header sends it: `alice:secret` → YWxpY2U6c2VjcmV0, without the signs = at its end."""
    return base64.b64encode(login.encode("utf-8", "replace")).decode().rstrip("=")


def _forms(value: str) -> Iterator[str]:
    """Yield the texts that a server or a library may write for a secret."""
    for text in (value, value.strip()):  # HTTP removes blanks at the ends of a header
        yield text
        yield json.dumps(text)[1:-1]
        yield json.dumps(text, ensure_ascii=False)[1:-1]
        yield urllib.parse.quote(text, safe="", errors="replace")
        yield urllib.parse.quote(text, errors="replace")
        yield urllib.parse.quote_plus(text, errors="replace")


def _may_be_a_word(value: str) -> bool:
    """Return False for long values, and for letters and digits together: `a1b2c3`."""
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    has_both = has_digit and has_letter
    return len(value) < _LONG_SECRET and not has_both


def _pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of the values, longest first; None if there are no values.

    Words and short values match only whole words.
    """
    patterns = []
    for value in sorted(values, key=len, reverse=True):
        pattern = re.escape(value)
        if len(value) < _SHORT_SECRET or _may_be_a_word(value):
            pattern = rf"(?<!\w){pattern}(?!\w)"
        patterns.append(pattern)
    return re.compile("|".join(patterns)) if patterns else None


def one_line(text: Any, longest: int = 200) -> str:
    """Return the text on one line. Control characters, and characters that hide or reorder text, are spelled out."""
    line = str(text)
    if len(line) > longest:
        line = f"{line[:longest]}…"
    if line.isprintable():
        return line

    characters = []
    for character in line:
        if _is_hidden(character):
            character = character.encode("unicode_escape").decode("ascii")
        characters.append(character)
    return "".join(characters)


def quote(value: Any) -> str:
    """Return a value as JSON, shortened if long, with lone surrogates escaped."""
    is_long = isinstance(value, str) and len(value) > _LONGEST_QUOTE
    if is_long:
        value = value[:_LONGEST_QUOTE]
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = text.encode("utf-8", "backslashreplace").decode()
    return f"{text}…" if is_long else text


def printable(text: str) -> str:
    """Replace control and hidden characters, except line breaks and tabs: a terminal must not obey foreign text."""
    if text.isprintable():
        return text
    return "".join("�" if _is_hidden(c) and c not in "\n\t" else c for c in text)


def _is_hidden(character: str) -> bool:
    return not character.isprintable() and unicodedata.category(character) != "Zs"


def escape_markup(text: str) -> str:
    """Escape a text for HTML or XML."""
    return html.escape(printable(text))


def html_table(title: str, rows: Mapping[str, object]) -> str:
    """Return a title and named values, texts or JSON, as an HTML table that a notebook shows; all are escaped."""
    lines = [f"<table><caption>{escape_markup(title)}</caption>"]
    for name, value in rows.items():
        text = value if isinstance(value, str) else quote(value)
        cell = escape_markup(text).replace("\n", "<br>")
        lines.append(f"<tr><th>{escape_markup(name)}</th><td>{cell}</td></tr>")
    lines.append("</table>")
    return "".join(lines)


def escape_markdown(text: str) -> str:
    """Return a text on one line, with all characters escaped that have a meaning in Markdown; no address is a link."""
    escaped = _MARKDOWN.sub(r"\\\1", one_line(text, len(text)))
    return _BARE_ADDRESS.sub(_NOTHING, escaped)


def escape_latex(text: str) -> str:
    """Return a text on one line as LaTeX sets it; letters beyond Latin-1 need XeLaTeX or LuaLaTeX."""
    return one_line(text, len(text)).translate(_LATEX).replace("--", "-{}-").replace("--", "-{}-")


def escape_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run."""
    is_formula = text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)
    return f"'{text}" if is_formula else text


def script_json(value: Any) -> str:
    """Return JSON for an HTML script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
