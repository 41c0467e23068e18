"""The log of a run, `run.log` in its folder."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path

from graphwalk.errors import GraphwalkError
from graphwalk.sanitise import one_line

_LOGGER = logging.getLogger("graphwalk")
_LINE_CHARACTERS = 10_000


class _LogFormatter(logging.Formatter):
    """A formatter that removes secrets and control characters; only tracebacks have several lines."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        record = copy(record)
        record.msg, record.args = one_line(self._redact(record.getMessage()), _LINE_CHARACTERS), ()
        return self._redact(super().format(record))


class _LogFile(logging.FileHandler):
    """A log file whose records are left out while it cannot be written, for example on a full disk."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- the name is that of the library
        pass

    def close(self) -> None:
        with suppress(OSError):
            super().close()


@contextmanager
def run_log(path: Path, redact: Callable[[str], str]) -> Iterator[None]:
    """Log the block, and an error that ends it, without secrets (`redact`); go without a log that cannot be written."""
    try:
        handler = _LogFile(path, encoding="utf-8", errors="backslashreplace")
    except OSError:
        yield
        return
    handler.setFormatter(_LogFormatter(redact))
    level, propagated = _LOGGER.level, _LOGGER.propagate
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.propagate = False
    try:
        yield
    except BaseException as error:
        internal = isinstance(error, Exception) and not isinstance(error, GraphwalkError)
        _LOGGER.error("ended by %s: %s", type(error).__name__, error, exc_info=internal)
        raise
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(level)
        _LOGGER.propagate = propagated
        handler.close()
