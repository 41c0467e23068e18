"""Suppressed errors: an explanation, a reference figure or a plot that fails costs no result."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graphwalk.variables import errors_must_be_raised

_LOGGER = logging.getLogger("graphwalk")


@contextmanager
def suppressed(part: str, note: Callable[[str], object]) -> Iterator[None]:
    """Make a part of a report in the block. If that fails, log the traceback, and pass a phrase about it to `note`.

    `run.log` has the traceback during a run, stderr has it with `graphwalk --debug`. The error is raised where
    `errors_must_be_raised`, as in tests.
    """
    try:
        yield
    except Exception as error:
        if errors_must_be_raised():
            raise
        _LOGGER.exception("%s missing", part)
        note(f"{part} missing: {type(error).__name__}")
