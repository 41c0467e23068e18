"""Sanitising of foreign text: remove secrets, replace control characters, escape markup.

Secrets are removed from texts of servers and models, and from published runs. GraphWalk's own names, settings and
record keys contain no secret, and a short password must not remove ordinary words from them.
"""

import html
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

_SECRET_NAME = re.compile(
    r"(KEY|KEYS|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)$", re.IGNORECASE
)
"""Ends a word of a variable's name: API_KEY, GITHUB_TOKEN_2, but neither GIT_AUTHOR_NAME nor MAX_TOKENS."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CREDENTIAL = re.compile(
    r"(.* )?((api|access|auth|private|secret)?( ?key|keys)|apikeys|(access|api|auth|bearer|refresh)? ?tokens?|secrets?"
    r"|pass|passw(or)?ds?|pwd|passphrases?|credentials?|auth|authorization|bearer|jwts?|cookies?( jar)?)"
)
_ORDINARY = re.compile(r"(.* )?((max|stop|completion|input|output) tokens|(cache|sort) keys?|max keys|[a-z]+os token)")
"""Fields of requests that end like credentials: `max_tokens`, `prompt_cache_key`, `eos_token`."""
_PLAIN_HEADER = re.compile(r"(.* )?(accept|agent|beta|encoding|language|referer|title|type|version)")
"""Headers whose value may have letters and digits, and is no credential."""
LOOKS_LIKE_KEYS: Mapping[str, re.Pattern[str]] = {
    "a key of an API": re.compile(
        r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{20,}|\bAIza[A-Za-z0-9_-]{35}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    ),
    "a key of a cloud": re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|hf_[A-Za-z0-9]{30,})"),
    "a signed token": re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    "a private key": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]{0,10000}-----END [A-Z ]*PRIVATE KEY-----)?"
    ),
}
_URL_SECRET = re.compile(r"\b[\w.-]+:[^\s/]*@\w|[?&#][\w.-]+=\S|://[^\s/]*@|://\S*[?#]\S")
"""A user, a query or a fragment of an address, also of one without `https://`."""
_SETTING = re.compile(r"([A-Za-z][\w.-]*)([:=])(?!/)[^\s\"'&;,(){}\[\]]{3,}[^\s\"'&;,(){}\[\]:]")
_SIGNATURE = re.compile(r"(?i)^(sig|signature|code|pwd|pass|sas)$")
_NO_SECRETS = frozenset(
    ["none", "null", "true", "false", "empty", "dummy", "local", "test", "ollama", "vllm", "lm-studio", "not-needed"]
)
"""Placeholders for servers on the user's own machine that require some key."""
_SHORTEST = 4
_URL_USER = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_URL_QUERY = re.compile(
    r"(?i)(?<=[?&;])([\w.-]*(?:key|token|secret|passw|pwd|auth|sig|credential)[\w.-]*=)[^&;#\s\"'<>]+"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}")


_LONGEST_ERROR = 600
"""Characters, most of them from a server; some servers send a web page."""
_HIDDEN = "***"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")
_LATEX = {ord(mark): rf"\{mark}" for mark in "&%$#_{}"} | {ord(mark): f"${mark}$" for mark in "<>|[*"}
_WORDS = r"\textbackslash{} \textasciitilde{} \^{} \char34{} \dots{} \textendash{} $-$ $\Delta$ $\to$ $\le$ $\ge$"
_LATEX |= dict(zip(map(ord, '\\~^"…–−Δ→≤≥'), _WORDS.split(), strict=True))
_MARKDOWN = re.compile(r"([\\`*_\[\]<>&|!#~$])")


class Secrets:
    """The secrets among some environment variables, with functions that remove them from text."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables: dict[str, str] = {}
        """Secret → variable. A secret may be written as it is, in JSON and in a URL."""
        for name, setting in variables.items():
            for value in _secrets_in(name, setting):
                if len(value) >= _SHORTEST and value.lower() not in _NO_SECRETS:
                    in_json = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]
                    self._variables |= dict.fromkeys((value, *in_json, quote(value, safe="")), name)
        every = sorted(self._variables, key=len, reverse=True)
        # A long or mixed secret cannot be a word.
        self._certain = [value for value in every if len(value) >= 20 or (len(value) >= 8 and _is_mixed(value))]
        short = [value for value in every if value not in self._certain]
        self._mixed = _whole_words(value for value in short if _is_mixed(value))
        self._words = _whole_words(short)

    def redact(self, text: str, *, settings: bool = True) -> str:
        """Remove everything that may be a secret, from a message of a server or a library.

        `settings`: also the value in `api_key=text`; not for texts of a run, in which `key=…` names a node.
        """
        text = self.redact_certain(text)
        if self._words:
            text = self._words.sub(_HIDDEN, text)
        for key in LOOKS_LIKE_KEYS.values():
            text = key.sub(_HIDDEN, text)
        if "://" in text:
            text = _URL_USER.sub(_HIDDEN, text)
        if settings:
            text = _SETTING.sub(_without_credential, text)
        return _BEARER.sub(r"\1 ***", _URL_QUERY.sub(r"\1***", text))

    def redact_certain(self, text: str) -> str:
        """Remove only unmistakable secrets from the text of a model: an ordinary password must not change an answer.

        Return the same object if the text has no secret.
        """
        for secret in self._certain:
            if secret in text:
                text = text.replace(secret, _HIDDEN)
        return self._mixed.sub(_HIDDEN, text) if self._mixed else text

    def redact_error(self, text: str) -> str:
        """Return an error message of a server or a library on one short line, without secrets.

        Secrets are removed before the text is cut: half a key would not be recognised.
        """
        return one_line(self.redact(text), _LONGEST_ERROR)

    def variable_in(self, text: str) -> str | None:
        """Return the name of a variable whose secret is in a text, or None."""
        for secret in self._certain:
            if secret in text:
                return self._variables[secret]
        match = self._words.search(text) if self._words else None
        return self._variables[match[0]] if match else None


def credentials_in(settings: Any, place: str = "", *, inside: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted place and the value of every credential in nested settings, by its name or its form.

    An address with a user, a query or a fragment counts as one. `inside`: the words of the name of the settings.
    """
    if isinstance(settings, list | tuple):
        settings = dict(enumerate(settings))
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            inner = f"{place}.{name}" if place else str(name)
            # The schema of a field that is named key or token holds none.
            texts = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
            may_hold = bool(value) and value is not True and (texts or isinstance(value, str | int | float))
            words = _words(str(name))
            in_header = inside.endswith("headers") and (
                words.endswith("api") or (_is_mixed(str(value)) and not _PLAIN_HEADER.fullmatch(words))
            )
            if may_hold and (in_header or inside.endswith(("cookies", "cookie jar")) or _is_credential(words, value)):
                yield inner, value
            else:
                yield from credentials_in(value, inner, inside=words)
    elif isinstance(settings, str) and any(
        pattern.search(settings) for pattern in (_URL_SECRET, *LOOKS_LIKE_KEYS.values())
    ):
        yield place, settings


def shown_setting(key: str, value: Any, text: Any) -> str:
    """Return `key=text` for a message, with `***` in place of a text that is or holds a credential."""
    settings = value
    for part in reversed(key.split(".")):
        settings = {part: settings}
    return f"{key}={_HIDDEN if any(True for _ in credentials_in(settings)) else text}"


def _words(name: str) -> str:
    return " ".join(_WORD.findall(name)).lower()


def _without_credential(setting: re.Match[str]) -> str:
    """Return `api_key=***` for `api_key=text`, and other settings as they are."""
    return f"{setting[1]}{setting[2]}{_HIDDEN}" if _is_credential(_words(setting[1]), setting[0]) else setting[0]


def _is_credential(words: str, value: Any) -> bool:
    """Return True if a setting of this name is one; `words`: the words of the name, in lower case."""
    number_of_them = words.endswith(("keys", "tokens")) and isinstance(value, int | float)
    return not (_ORDINARY.fullmatch(words) or number_of_them) and _CREDENTIAL.fullmatch(words) is not None


def _secrets_in(name: str, value: str) -> Iterator[str]:
    if any(_SECRET_NAME.search(word) for word in name.split("_")):
        yield value
        yield from value.split()
    if "://" in value:
        yield from _secrets_of_url(value)


def _secrets_of_url(url: str) -> Iterator[str]:
    """Yield the password or token before the `@`, values of keys in the query, and random parts of the path."""
    rest = url.partition("://")[2]
    user, at, _ = rest.rpartition("@")
    name, colon, password = user.partition(":")
    if at:
        yield from (form for form in (password if colon else name,) for form in (form, unquote(form)))
    parts = urlsplit(url) if not at else urlsplit(f"x://{rest.rpartition('@')[2]}")
    for key, value in parse_qsl(parts.query):
        if _SECRET_NAME.search(key) or _SIGNATURE.search(key):
            yield value
    yield from (part for part in parts.path.split("/") if len(part) >= 16 and _is_mixed(part))


def _is_mixed(value: str) -> bool:
    """Return True for letters and digits together: neither a word nor a number."""
    return len(value) > _SHORTEST and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _whole_words(values: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of the values as whole words; None if there are no values."""
    escaped = [re.escape(value) for value in values]
    return re.compile(rf"(?<!\w)(?:{'|'.join(escaped)})(?!\w)") if escaped else None


_HOME = re.compile(
    r"(?:(?<![\w.])(?:/home|/Users)/[^/\s\"'<>|:,;)\]}\\]+)|(?:\b[A-Za-z]:\\{1,2}Users\\{1,2}[^\\\s\"'<>|]+)"
)
_BEGINNING = 6
"""Characters of a possible secret that an error shows."""


class PossibleSecret(NamedTuple):
    """A text that looks like a secret: its place, its kind, and its first characters."""

    place: str
    what: str
    shown: str


@dataclass
class Cleaner:
    """Removes private data from a run: secrets, home folders, paths, addresses of servers.

    `variables` are environment variables. With `redact`, secrets and texts like keys are replaced; without it, they are
    listed in `refused`. `folder` is the working directory, whose path becomes `.`. `removed` counts by kind.
    """

    variables: Mapping[str, str]
    redact: bool = False
    folder: Path | None = None
    removed: Counter[str] = field(default_factory=Counter)
    refused: list[PossibleSecret] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._secrets = Secrets(self.variables)

    def text(self, text: str, place: str) -> str:
        if not self.redact and (variable := self._secrets.variable_in(text)):
            self.refused.append(PossibleSecret(place, f"the value of {variable}", _HIDDEN))
        cleaned = text
        for what, pattern in LOOKS_LIKE_KEYS.items():
            if self.redact:
                cleaned, number = pattern.subn(_HIDDEN, cleaned)
                self.removed["what looks like a key"] += number
            else:
                beginnings = (match[0][:_BEGINNING] for match in pattern.finditer(cleaned))
                self.refused += [PossibleSecret(place, what, f"{beginning}…") for beginning in beginnings]
        without = self._secrets.redact(cleaned, settings=False)
        self.removed["secrets"] += without != cleaned
        cleaned = without
        here = "" if self.folder is None or len(self.folder.parts) < 3 else str(self.folder)
        if here and here in cleaned:
            self.removed["paths"] += cleaned.count(here)
            cleaned = cleaned.replace(here, ".")
        if "/home/" in cleaned or "Users" in cleaned:
            cleaned, homes = _HOME.subn("~", cleaned)
            self.removed["paths"] += homes
        return cleaned

    def record(self, value: Any, place: str) -> Any:
        """Clean all texts of a JSON value."""
        if isinstance(value, str):
            return self.text(value, place)
        if isinstance(value, dict):
            return {self.text(name, place): self.record(item, place) for name, item in value.items()}
        return [self.record(item, place) for item in value] if isinstance(value, list) else value

    def reply(self, record: dict[str, Any], place: str) -> dict[str, Any]:
        """Clean a line of `replies.jsonl`: of a model that its server names by a path, only the file name remains."""
        cleaned: dict[str, Any] = self.record(record, place)
        if (reply := cleaned.get("reply")) and reply.get("model"):
            reply["model"] = self._without_paths(reply["model"])
        return cleaned

    def know_credentials(self, manifest: dict[str, Any]) -> None:
        config = manifest.get("config", {})
        settings = {"options": config.get("options"), "model_arguments": config.get("model_arguments")}
        credentials = {}
        for place, value in credentials_in(settings):
            if self.redact and isinstance(value, str):
                credentials[f"{place}, a key"] = value
            else:
                self.refused.append(PossibleSecret("run.json", place, _HIDDEN))
        self._secrets = Secrets({**self.variables, **credentials})

    def manifest(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Clean `run.json`: only the file name of each path remains, and no server address."""
        cleaned = self._without_paths(self.record(manifest, "run.json"))
        for config in (cleaned.get("config"), (cleaned.get("fingerprint") or {}).get("config")):
            if isinstance(config, dict) and config.get("servers"):
                self.removed["addresses of servers"] += len(config["servers"])
                config["servers"] = {}
        return dict(cleaned)

    def _without_paths(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._without_paths(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._without_paths(item) for item in value]
        if not isinstance(value, str) or "\n" in value or len(value) > 4096:
            return value
        for path in (PurePosixPath(value), PureWindowsPath(value)):
            if (path.is_absolute() or value.startswith("~/")) and path.name:
                self.removed["paths"] += 1
                return f"./{path.name}"
        return value


def one_line(text: Any, longest: int = 200) -> str:
    """Return the text on one line. Control characters, and characters that hide or reorder text, are spelled out."""
    shown = str(text)
    cut = shown[:longest] + "…" if len(shown) > longest else shown
    if cut.isprintable():
        return cut
    return "".join(c.encode("unicode_escape").decode("ascii") if _is_hidden(c) else c for c in cut)


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


def escape_markdown(text: str) -> str:
    """Return a text on one line, with all characters escaped that have a meaning in Markdown."""
    return _MARKDOWN.sub(r"\\\1", one_line(text, len(text)))


def escape_latex(text: str) -> str:
    """Return a text on one line as LaTeX sets it; letters beyond Latin-1 need XeLaTeX or LuaLaTeX."""
    return one_line(text, len(text)).translate(_LATEX).replace("--", "-{}-").replace("--", "-{}-")


def escape_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run."""
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def script_json(value: Any) -> str:
    """Return JSON for an HTML script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
