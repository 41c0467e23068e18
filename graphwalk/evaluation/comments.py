"""Comments on results: explanations, evidence, reference figures, plots, drawings. A failing one costs no result."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graphwalk.settings import comments_must_succeed

_LOGGER = logging.getLogger("graphwalk")


@contextmanager
def comment(name: str, note: Callable[[str], object], *, raises: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Make a comment on a result in the block. If it fails, log the traceback, and pass a phrase about it to `note`.

    `run.log` has the traceback during a run, stderr has it with `graphwalk --debug`. The error is raised where
    `comments_must_succeed`, as in tests, and if it is one of `raises`.
    """
    try:
        yield
    except Exception as error:
        if comments_must_succeed() or isinstance(error, raises):
            raise
        _LOGGER.exception("%s missing", name)
        note(f"{name} missing: {type(error).__name__}")
