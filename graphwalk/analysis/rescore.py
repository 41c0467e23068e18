"""Score a run again with the current scorer; no model calls."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from graphwalk.config.agent import Scoring
from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import encode_line
from graphwalk.files.writing import write_whole
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import code_version
from graphwalk.runs.record import Result, judge

_BLOCK = 1 << 20
"""Bytes that are copied at once."""


def rescore_run(folder: RunFolder, done: Callable[[], object] = lambda: None) -> tuple[int, int]:
    """Score all results again and rewrite the log. Return the number of changed scores and of results.

    The old log is kept as `old-results.jsonl`. `done` is called after each result. Raise RunLogError if the log is
    damaged or the new one cannot be written; the log is unchanged then.
    """
    with folder.lock():
        manifest = folder.read_manifest()
        scorer = _Scorer(folder, Scoring.model_validate(manifest["config"]["scoring"]), done)
        log = folder.results_path
        if log.exists():
            write_whole(log.with_name(f"old-{log.name}"), _blocks(log), error=RunLogError)
        write_whole(log, scorer.lines(), error=RunLogError)
        manifest["fingerprint"]["scorer"] = code_version()
        folder.write_manifest(manifest)
    return scorer.changed, scorer.total


class _Scorer:
    """Scores the results of a run again, and counts them."""

    def __init__(self, folder: RunFolder, scoring: Scoring, done: Callable[[], object]) -> None:
        self._folder = folder
        self._suite = folder.suite
        self._scoring = scoring
        self._done = done
        self.changed = 0
        self.total = 0

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the new log. Raise RunLogError if there are none, or if another process has the folder."""
        for record in self._folder.records():
            result = Result.from_dict(record)
            task = self._suite.task_type.model_validate(result.task)
            answer, score = judge(task, result.trajectory, result.extractor_reply, self._scoring)
            if score != record["score"]:
                self.changed += 1
            self.total += 1
            self._done()
            yield encode_line({**record, "answer": answer, "score": score})
        # Raised while the new log is written, so that the old one stays.
        if self.total == 0:
            raise RunLogError(f"{self._folder.path} has no results yet", hint=self._folder.resume_command)
        self._folder.check_lock()


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(partial(file.read, _BLOCK), b"")
