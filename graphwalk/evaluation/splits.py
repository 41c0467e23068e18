"""Training files, and the check that splits share no graph, no chat and no name.

Of a manifest only the digest of the file is trusted. Names are read from the chats: every word that is not English,
Cypher or part of GraphWalk's texts counts as a name.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError, counted
from graphwalk.files.resources import data_path
from graphwalk.files.writing import write_whole
from graphwalk.graphs.generate import cypher_words, english_words

_WORD = re.compile(r"[A-Za-z]+(?:[0-9]+[A-Za-z]*)*")
_SHORTEST = 4
"""Letters of a name; keys have as many letters and digits."""
_OF_SCHEMAS = frozenset({"additionalproperties", "enum"})
"""Words of JSON Schema that are not English; a prompt of the text protocol has the schemas of its tools."""
_VALUE = re.compile(r'"[^"]*"|\b[A-Z]\w+\b|\b\w*\d\w*\b')
"""Values, labels, types, keys and numbers: what differs between two questions of the same wording."""


def write_chats(path: Path, chats: Iterable[Mapping[str, Any]]) -> str:
    """Write one chat a line, as they come; return the SHA-256 digest of the file."""
    digest = hashlib.sha256()

    def texts() -> Iterator[str]:
        for chat in chats:
            text = json.dumps(chat, ensure_ascii=False) + "\n"
            digest.update(text.encode("utf-8", "surrogatepass"))
            yield text

    write_whole(path, texts())
    return digest.hexdigest()


@dataclass
class ChatSplit:
    """The content of one split: chats (by digest) and graphs with the place, file:line, where each is first."""

    name: str
    chats: dict[str, str] = field(default_factory=dict)
    graphs: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    wordings: set[str] = field(default_factory=set)
    """Questions without the parts that differ between two of the same wording."""

    @classmethod
    def read(cls, path: Path) -> "ChatSplit":
        """Read a trace file that matches its manifest."""
        beside = manifest_path(path)
        try:
            digest = json.loads(beside.read_text(encoding="utf-8"))["sha256"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{beside}: no valid manifest of {path.name}: {error}") from error
        split = cls(str(path))
        try:
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    raise ConfigError(f"{path}: digest differs from its manifest")
                file.seek(0)
                for number, line in enumerate(file, 1):
                    split._add(line, f"{path}:{number}")
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error}") from error
        return split

    def _add(self, line: bytes, place: str) -> None:
        try:
            chat = json.loads(line)
            messages = chat["messages"]
            chat_digest = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()
            self.chats.setdefault(chat_digest, place)
            self.graphs.setdefault(chat["graph_digest"], place)
            self.names |= _names(messages)
            question = next((message["content"] for message in messages if message["role"] == "user"), "")
            self.wordings.add(" ".join(_VALUE.sub("_", question).split()))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{place}: not a trace: {error}", hint="graphwalk export traces") from error


def check_splits(paths: Sequence[Path]) -> list[ChatSplit]:
    """Read trace files. Raise ConfigError if two share a chat, a graph or a name; they may share wordings."""
    splits = [ChatSplit.read(path) for path in paths]
    hint = "use different seeds; for questions `names: train` in one and `names: held_out` in the other"
    for one, other in combinations(splits, 2):
        for thing, first, second in (("chat", one.chats, other.chats), ("graph", one.graphs, other.graphs)):
            if shared := first.keys() & second.keys():
                places = min((first[item], second[item]) for item in shared)
                text = f"{counted(len(shared), thing)}: {' and '.join(places)}"
                raise ConfigError(f"{one.name} and {other.name} share {text}", hint=hint)
        if names := one.names & other.names:
            text = f"{counted(len(names), 'name')}: {', '.join(sorted(names)[:5])}"
            raise ConfigError(f"{one.name} and {other.name} share {text}", hint=hint)
    return splits


def manifest_path(out: Path) -> Path:
    """Return the path of the manifest beside a file of trajectories."""
    return out.with_name(out.name.removesuffix(".jsonl") + ".manifest.json")


def write_manifest(path: Path, content: Mapping[str, Any]) -> None:
    """Write a manifest as JSON."""
    write_whole(path, [json.dumps(content, indent=2, ensure_ascii=False), "\n"])


def _names(messages: Sequence[dict[str, Any]]) -> set[str]:
    """Return the names in lower case: a label and a value that differ in case alone are one."""
    words: set[str] = set()
    for message in messages:
        text = message["content"] or ""
        calls = message.get("tool_calls") or ()
        text += "".join(f" {json.dumps(call['function']['arguments'], ensure_ascii=False)}" for call in calls)
        words.update(word.lower() for word in _WORD.findall(text.replace("\\n", " ")) if len(word) >= _SHORTEST)
    return words - _own_words()


@cache
def _own_words() -> frozenset[str]:
    """Return the words of English, also inflected (few names end so), of Cypher, and of GraphWalk's data files."""
    texts = [
        path.read_text(encoding="utf-8")
        for folder in ("templates", "tools")
        for path in data_path(folder).rglob("*")
        if path.suffix in (".yaml", ".j2")
    ]
    inflected = {word + end for word in english_words() for end in ("s", "ed", "ing", "ly")}
    of_files = {word.lower() for text in texts for word in _WORD.findall(text)}
    return english_words() | inflected | cypher_words() | _OF_SCHEMAS | of_files
