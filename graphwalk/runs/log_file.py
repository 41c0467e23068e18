"""The run log file, `run.log`: each event of a run in a line with its time."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path

from graphwalk.sanitise import one_line

LOGGER = logging.getLogger("graphwalk")
LEVELS = ("debug", "info", "warning", "error")
_LONGEST = 10_000
"""Characters of a line."""
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Formatter(logging.Formatter):
    """Removes secrets and control characters; a record is one line, except for tracebacks."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__(_FORMAT)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        record = copy(record)
        record.msg, record.args = one_line(self._redact(record.getMessage()), _LONGEST), ()
        return self._redact(super().format(record))


@contextmanager
def run_log(path: Path, level: str, redact: Callable[[str], str]) -> Iterator[logging.Logger]:
    """Log into a file while the block runs; at "debug" also the records of libraries.

    `redact` removes secrets. A file that cannot be written is skipped: no run ends for its log.
    """
    try:
        handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    except OSError:
        yield LOGGER
        return
    handler.setFormatter(_Formatter(redact))
    logger = logging.getLogger() if level == "debug" else LOGGER
    before, propagated = logger.level, LOGGER.propagate
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    LOGGER.propagate = level == "debug"
    try:
        yield LOGGER
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        LOGGER.propagate = propagated
        handler.close()
