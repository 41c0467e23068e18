"""Training files, and the check that splits share no graph and no chat.

Of a manifest only the digest of the file is trusted.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError, counted
from graphwalk.files.writing import write_whole


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
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{place}: not a trace: {error}", hint="graphwalk export traces") from error


def check_splits(paths: Sequence[Path]) -> list[ChatSplit]:
    """Read trace files. Raise ConfigError if two share a chat or a graph."""
    splits = [ChatSplit.read(path) for path in paths]
    hint = "use different seeds; for questions `names: train` in one and `names: held_out` in the other"
    for one, other in combinations(splits, 2):
        for thing, first, second in (("chat", one.chats, other.chats), ("graph", one.graphs, other.graphs)):
            if shared := first.keys() & second.keys():
                places = min((first[item], second[item]) for item in shared)
                text = f"{counted(len(shared), thing)}: {' and '.join(places)}"
                raise ConfigError(f"{one.name} and {other.name} share {text}", hint=hint)
    return splits


def manifest_path(out: Path) -> Path:
    """Return the path of the manifest beside a file of trajectories."""
    return out.with_name(out.name.removesuffix(".jsonl") + ".manifest.json")


def write_manifest(path: Path, content: Mapping[str, Any]) -> None:
    """Write a manifest as JSON."""
    write_whole(path, [json.dumps(content, indent=2, ensure_ascii=False), "\n"])
