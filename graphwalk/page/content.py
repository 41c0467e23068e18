"""What a page is made of: an index of all episodes in few columns, and one deflated block for each of them."""

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphwalk.page.turns import episode_content
from graphwalk.report.declared import Report
from graphwalk.report.observations import Observations
from graphwalk.runlog.part import own_episodes
from graphwalk.runlog.result import EpisodeKey, key_of
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.reporting import measured
from graphwalk.suites.registry import suite_named
from graphwalk.types.episode import ExitStatus

_LONGEST_QUESTION, _LONGEST_ANSWER = 400, 160
"""Characters that can be searched for."""
_RAW = -15
"""Deflate without a header, which a browser inflates as "deflate-raw"."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Episode:
    """One episode of a page: its line of the index, and everything else as deflated JSON."""

    key: EpisodeKey
    digest: str
    line: Mapping[str, Any]
    block: bytes

    @property
    def text(self) -> str:
        """The block as it stands in a page."""
        return base64.b64encode(self.block).decode()


@dataclass
class RunContent:
    """One run of a page. `report` and `observed` are None where there is no run folder, as in `graphwalk play`."""

    name: str
    suite: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    report: Report | None = None
    observed: Observations | None = None
    episodes: list[Episode] = field(default_factory=list)


class EpisodeReader:
    """Makes the episodes of a page from records on their way to somebody else; what it has read it makes once."""

    def __init__(self, suite_name: str, wanted: Callable[[Record], bool] = lambda record: True) -> None:
        self.suite = suite_named(suite_name)
        self._wanted = wanted
        self._read = 0
        self._found: dict[EpisodeKey, Episode] = {}

    def passing(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The same records. They begin with those that were read before, where this is not the first time."""
        for number, record in enumerate(records):
            if number >= self._read:
                if self._wanted(record):
                    self.take(record)
                self._read = number + 1
            yield record

    def take(self, record: Record) -> None:
        key = key_of(dict(record))
        block = deflated(json.dumps(episode_content(record, self.suite), separators=(",", ":")))
        self._found[key] = Episode(key, record["task"].get("graph_digest", ""), _line(record), block)

    def episodes(self) -> list[Episode]:
        """In the order of their keys; of an episode that was run again the last one."""
        return [self._found[key] for key in sorted(self._found)]


def content_of(
    folder: RunFolder, wanted: Callable[[Record], bool] = lambda record: True, reader: EpisodeReader | None = None
) -> RunContent:
    """A run with the episodes that are wanted; tables and plots are of the whole run. Its log is read once.

    `reader`: one that read the beginning of the same log, to make only those episodes that have come since.
    """
    manifest = folder.read_manifest()
    reader = reader or EpisodeReader(manifest["config"]["suite"]["name"], wanted)
    report, observed = measured(folder, reader.passing(folder.records()))
    return RunContent(folder.path.name, reader.suite.name, _facts(manifest), report, observed, reader.episodes())


def episodes_of(records: Iterable[Record], suite_name: str) -> list[Episode]:
    """In the order of their keys; of an episode that was run again the last one."""
    reader = EpisodeReader(suite_name)
    for record in records:
        reader.take(record)
    return reader.episodes()


def deflated(text: str) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, _RAW)
    return packer.compress(text.encode()) + packer.flush()


def inflated(block: bytes) -> str:
    return zlib.decompress(block, _RAW).decode()


def _line(record: Record) -> dict[str, Any]:
    """The columns by which episodes are found."""
    task, score, usage = record["task"], record["score"] or {}, record["usage"]
    tokens = [usage[name] for name in ("input_tokens", "output_tokens") if usage.get(name) is not None]
    return {
        "kind": task["template"],
        "group": task.get("category") or "",
        "question": task["question"][:_LONGEST_QUESTION],
        "par": task.get("par_calls"),
        "right": score.get("correct"),
        "failed": ExitStatus(record["exit_status"]).infrastructure,
        "error": score.get("error_class") or _wrong_steps(score),
        "status": record["exit_status"],
        "turns": record["turns"],
        "calls": record["tool_calls"],
        "tokens": sum(tokens) if tokens else None,
        "cost": usage.get("cost"),
        "seconds": record["seconds"],
        "answer": _said(record["answer"]),
    }


def _wrong_steps(score: Mapping[str, Any]) -> str:
    """The largest class of errors where a score counts several, as MAGMA's does."""
    counts = {name: score.get(name) or 0 for name in ("missing_prefix", "invalid_items", "hallucinations")}
    counts["false_negatives"] = score.get("false_negatives") or 0
    worst = max(counts, key=lambda name: counts[name])
    return worst if counts[worst] else ""


def _said(answer: Any) -> str:
    if answer is None:
        return ""
    return (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))[:_LONGEST_ANSWER]


def _facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    config = manifest["config"]
    return {
        "experiment": manifest.get("name", ""),
        "description": config.get("description") or "",
        "created": manifest.get("created", ""),
        "version": manifest.get("graphwalk_version", ""),
        "seed": config.get("seed"),
        "store": config.get("store"),
        "models": list(config.get("models", ())),
        "settings": list(config.get("settings", ())),
        "planned": own_episodes(manifest),
        "tags": list(config.get("tags", ())),
    }
