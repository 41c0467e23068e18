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
_FORMATTER = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")


class _LogFile(logging.FileHandler):
    """A log without secrets and control characters; records are left out while it cannot be written (a full disk)."""

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        super().__init__(path, encoding="utf-8", errors="backslashreplace")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """Format a record on one line; only tracebacks have several."""
        record = copy(record)
        record.msg, record.args = one_line(self._redact(record.getMessage()), _LINE_CHARACTERS), ()
        return self._redact(_FORMATTER.format(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- the name is that of the library
        pass


@contextmanager
def run_log(path: Path, redact: Callable[[str], str]) -> Iterator[None]:
    """Log the block, and an error that ends it, without secrets (`redact`); go without a log that cannot be written."""
    try:
        handler = _LogFile(path, redact)
    except OSError:
        yield
        return
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
        with suppress(OSError):
            handler.close()
