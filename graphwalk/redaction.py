"""Taking secrets out of foreign text: what servers say of a failure, and what models write.

Nothing else is touched. Names, settings and keys of a record are ours and hold no secret, and a short password must
not take ordinary words out of them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

_SECRET_NAME = re.compile(
    r"(KEY|KEYS|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)$", re.IGNORECASE
)
"""At the end of a word of a variable's name: API_KEY, GITHUB_TOKEN_2, but neither GIT_AUTHOR_NAME nor MAX_TOKENS."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CREDENTIAL = re.compile(
    r"(api|access|auth)?key|token|secrets?|passw(or)?d|pwd|passphrase|credentials?|auth|authorization|bearer|jwt|cookie"
)
_CREDENTIALS = re.compile(
    r"(.* )?((api|access|auth)?key|password|passphrase|jwt|cookie)s|((.* )?(access|api|auth|bearer|refresh) ?)?tokens"
)
"""Several of them; `max_tokens` and `stop_tokens` are none, nor is any number."""
_ORDINARY = re.compile(r"(cache|sort|[bep]os|pad|unk|sep|cls|mask|stop|image) (keys?|token)$")
"""Fields of requests that end like credentials: `prompt_cache_key`, `eos_token`."""
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
_SIGNATURE = re.compile(r"(?i)^(sig|signature|code|pwd|pass|sas)$")
_NO_SECRETS = frozenset(
    ["none", "null", "true", "false", "empty", "dummy", "local", "test", "ollama", "vllm", "lm-studio", "not-needed"]
)
"""What people write where a server on their own machine wants any key at all."""
_SHORTEST = 4
_URL_USER = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_URL_QUERY = re.compile(
    r"(?i)(?<=[?&;])([\w.-]*(?:key|token|secret|passw|pwd|auth|sig|credential)[\w.-]*=)[^&;#\s\"'<>]+"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}")


class Redaction:
    """The secrets in some variables of the environment, and the texts without them."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        found = {value: pair[0] for pair in variables.items() for value in _secrets_in(*pair) if _may_be_secret(value)}
        self._variables = {form: name for value, name in found.items() for form in _forms(value)}
        every = sorted(self._variables, key=len, reverse=True)
        self._plain = [value for value in every if _is_unmistakable(value)]
        short = [value for value in every if value not in self._plain]
        self._mixed = _standing_alone(value for value in short if _is_mixed(value))
        self._words = _standing_alone(short)

    def message(self, text: str) -> str:
        """What a server or a library says of a failure, without anything that may be a secret."""
        text = self.said(text)
        if self._words:
            text = self._words.sub("***", text)
        for key in LOOKS_LIKE_KEYS.values():
            text = key.sub("***", text)
        if "://" in text:
            text = _URL_USER.sub("***", text)
        return _BEARER.sub(r"\1 ***", _URL_QUERY.sub(r"\1***", text))

    def variable_in(self, text: str) -> str | None:
        """Return the name of a variable whose secret is in a text, or None."""
        for secret in self._plain:
            if secret in text:
                return self._variables[secret]
        match = self._words.search(text) if self._words else None
        return self._variables[match[0]] if match else None

    def said(self, text: str) -> str:
        """A model's words without what can only be a secret: an answer must not change for a password that is a word.

        The same text (the same object) where there is none.
        """
        for secret in self._plain:
            if secret in text:
                text = text.replace(secret, "***")
        return self._mixed.sub("***", text) if self._mixed else text


def credentials_in(settings: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted place and the value of every credential in nested settings, by its name or its form."""
    if isinstance(settings, list | tuple):
        settings = dict(enumerate(settings))
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            inner = f"{place}.{name}" if place else str(name)
            if _may_hold_credential(value) and _is_credential(str(name), value):
                yield inner, value
            else:
                yield from credentials_in(value, inner)
    elif isinstance(settings, str) and any(pattern.search(settings) for pattern in LOOKS_LIKE_KEYS.values()):
        yield place, settings


def _may_hold_credential(value: Any) -> bool:
    """Tell a text, a number or a list of texts from the schema of a field that is called key or token."""
    texts = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
    return bool(value) and value is not True and (texts or isinstance(value, str | int | float))


def shown_setting(key: str, value: Any, text: Any) -> str:
    """Return `key=text` for a message; `***` in place of the text where the value is or holds a credential."""
    found = any(True for _ in credentials_in({key.rpartition(".")[2]: value}))
    return f"{key}={'***' if found else text}"


def _is_credential(name: str, value: Any) -> bool:
    words = " ".join(_WORD.findall(name)).lower()
    if _ORDINARY.search(words):
        return False
    several = _CREDENTIALS.fullmatch(words) and not isinstance(value, int | float)
    return bool(several or _CREDENTIAL.fullmatch(words.rpartition(" ")[2]))


def _secrets_in(name: str, value: str) -> Iterator[str]:
    if any(_SECRET_NAME.search(word) for word in name.split("_")):
        yield value
        yield from value.split()
    if "://" in value:
        yield from secrets_of_url(value)


def secrets_of_url(url: str) -> Iterator[str]:
    """Password or token before the `@`, values of keys in the query, parts of the path that nobody would name so."""
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


def _may_be_secret(value: str) -> bool:
    return len(value) >= _SHORTEST and value.lower() not in _NO_SECRETS


def _is_unmistakable(value: str) -> bool:
    """True for what no person writes as a word: it may be taken out wherever it stands."""
    return len(value) >= 20 or (len(value) >= 8 and _is_mixed(value))


def _is_mixed(value: str) -> bool:
    """True for letters and digits together: neither a word nor a number."""
    return len(value) > _SHORTEST and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _standing_alone(values: Iterable[str]) -> re.Pattern[str] | None:
    """Any of some values where it is not a part of a longer word; None where there are none."""
    found = [re.escape(value) for value in values]
    return re.compile(rf"(?<!\w)(?:{'|'.join(found)})(?!\w)") if found else None


def _forms(value: str) -> set[str]:
    """A secret as it is, in JSON and in an address."""
    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")}
