"""`run.log`: what happened in a run, a line each with its time, for whoever looks later why something failed."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path

from graphwalk.types.inert import visible

LOGGER = logging.getLogger("graphwalk")
LEVELS = ("debug", "info", "warning", "error")
_LONGEST = 10_000
"""Characters of a line."""
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Inert(logging.Formatter):
    """Lines without secrets and escapes, and one line each but for tracebacks."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__(_FORM)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        record = copy(record)
        record.msg, record.args = visible(self._redact(record.getMessage()), _LONGEST), ()
        return self._redact(super().format(record))


@contextmanager
def diary(path: Path, level: str, redact: Callable[[str], str]) -> Iterator[logging.Logger]:
    """Write what is logged into a file as long as the block runs; at "debug" what libraries log too.

    `redact` takes secrets out of a line. A file that cannot be written is done without: no run ends for its log.
    """
    try:
        handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    except OSError:
        yield LOGGER
        return
    handler.setFormatter(_Inert(redact))
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
