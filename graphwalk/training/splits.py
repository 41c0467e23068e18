"""The proof that files of traces share nothing: no graph, no chat, no name.

Nothing is taken from a manifest but the digest of its file. Names are read from what the chats themselves say: every
word that is neither English nor Cypher's nor GraphWalk's own is taken for one, so that a name cannot be overlooked.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.generate import CYPHER_WORDS, english_words
from graphwalk.resources import data_path
from graphwalk.training.traces import manifest_path

_WORD = re.compile(r"[A-Za-z]+(?:[0-9]+[A-Za-z]*)*")
_SHORTEST = 4
"""Letters of a name; keys have as many letters and digits."""
_OF_SCHEMAS = frozenset({"additionalproperties", "enum"})
"""Words of JSON Schema that are no English; a prompt of the text protocol has the schemas of its tools."""
_VALUE = re.compile(r'"[^"]*"|\b[A-Z]\w+\b|\b\w*\d\w*\b')
"""In a question, what differs between two with the same words: values, labels, types, keys, numbers."""


@dataclass(frozen=True)
class Content:
    """What a file of traces holds."""

    path: Path
    chats: int
    graphs: frozenset[str]
    digests: frozenset[str]
    """Of every chat."""
    names: frozenset[str]
    wordings: frozenset[str]
    """Questions with everything left out that differs between two of the same words."""


def check_splits(paths: Sequence[Path]) -> list[Content]:
    """Read the files and prove that no two share a graph, a chat or a name, and that each is as its manifest says.

    ConfigError names what is shared. That two share wordings is no mistake: compare `wordings` where it matters.
    """
    contents = [read_content(path) for path in paths]
    for one, other in combinations(contents, 2):
        for what in ("graphs", "digests", "names"):
            if shared := getattr(one, what) & getattr(other, what):
                some = ", ".join(sorted(shared)[:5])
                what = "chats" if what == "digests" else what
                raise ConfigError(
                    f"{one.path} and {other.path} share {len(shared)} {what}: {some}",
                    hint="make one with `names: train` and the other with `names: held_out`, and other seeds",
                )
    return contents


def read_content(path: Path) -> Content:
    """ConfigError for a file that is no file of traces, or not the one of its manifest."""
    whole = hashlib.sha256()
    chats = 0
    graphs: set[str] = set()
    digests: set[str] = set()
    names: set[str] = set()
    wordings: set[str] = set()
    for line, record in _records(path):
        whole.update(line)
        chats += 1
        try:
            graphs.add(record["graph_digest"])
            messages = record["messages"]
            digests.add(hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest())
            names |= _names(messages)
            wordings.add(_wording(messages))
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"{path}:{chats}: no trace: {error}", hint="graphwalk export traces") from error
    _check_manifest(path, whole.hexdigest())
    return Content(path, chats, frozenset(graphs), frozenset(digests), frozenset(names), frozenset(wordings))


def _records(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield line, json.loads(line)
                except ValueError as error:
                    raise ConfigError(f"{path}:{number}: not JSON: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error


def _check_manifest(path: Path, digest: str) -> None:
    beside = manifest_path(path)
    try:
        said = json.loads(beside.read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{beside}: no manifest of {path.name}: {error}") from error
    if said != digest:
        raise ConfigError(f"{path}: its digest is not that of its manifest")


def _names(messages: Sequence[dict[str, Any]]) -> set[str]:
    """In lower case: a label and a value that differ in case alone are one name."""
    found: set[str] = set()
    for message in messages:
        text = message["content"] or ""
        calls = message.get("tool_calls") or ()
        text += "".join(f" {json.dumps(call['function']['arguments'], ensure_ascii=False)}" for call in calls)
        found.update(word.lower() for word in _WORD.findall(text.replace("\\n", " ")) if len(word) >= _SHORTEST)
    return {word for word in found if word not in _own_words() and not _inflected(word)}


def _inflected(word: str) -> bool:
    """English in a form that the dictionary lacks; no name ends so by chance often enough to hide a shared pool."""
    return any(word.endswith(end) and word.removesuffix(end) in english_words() for end in ("s", "ed", "ing", "ly"))


@cache
def _own_words() -> frozenset[str]:
    """English, Cypher's, and all that stands in GraphWalk's data files."""
    texts = [
        path.read_text(encoding="utf-8")
        for folder in ("templates", "tools")
        for path in data_path(folder).rglob("*")
        if path.suffix in (".yaml", ".j2")
    ]
    return (
        english_words() | CYPHER_WORDS | _OF_SCHEMAS | {word.lower() for text in texts for word in _WORD.findall(text)}
    )


def _wording(messages: Sequence[dict[str, Any]]) -> str:
    asked = next((message["content"] for message in messages if message["role"] == "user"), "")
    return " ".join(_VALUE.sub("_", asked).split())
