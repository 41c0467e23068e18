"""Training files, and the check that splits share no graph and no chat."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
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


def check_splits(paths: Sequence[Path]) -> list[Counter[str]]:
    """Return the numbers of chats and graphs of each trace file. Raise ConfigError if two files share one."""
    splits = [_contents(path) for path in paths]
    for one, other in combinations(splits, 2):
        if shared := sorted((one[item], other[item], item[0]) for item in one.keys() & other.keys()):
            first, second, thing = shared[0]
            raise ConfigError(
                f"{first} and {second} share a {thing}",
                hint="use different seeds; for questions `names: train` in one and `names: held_out` in the other",
            )
    return [Counter(thing for thing, _ in split) for split in splits]


def _contents(path: Path) -> dict[tuple[str, str], str]:
    """Return ("chat" or "graph", digest) → file:line where it is first."""
    places: dict[tuple[str, str], str] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                chat = json.loads(line)
                digest = hashlib.sha256(json.dumps(chat["messages"], sort_keys=True).encode()).hexdigest()
                places.setdefault(("chat", digest), f"{path}:{number}")
                places.setdefault(("graph", chat["graph_digest"]), f"{path}:{number}")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}:{number}: not a trace: {error}", hint="graphwalk export traces") from error
    return places


def manifest_path(out: Path) -> Path:
    """Return the path of the manifest beside a file of trajectories."""
    return out.with_name(out.name.removesuffix(".jsonl") + ".manifest.json")


def write_manifest(path: Path, content: Mapping[str, Any]) -> None:
    """Write a manifest as JSON."""
    write_whole(path, [json.dumps(content, indent=2, ensure_ascii=False), "\n"])
