"""The errors of GraphWalk.

    GraphwalkError
    ├── ConfigError     an experiment file, flag or template is wrong          exit 2
    ├── StoreError      the database cannot be reached, or refuses             exit 3
    ├── ModelError      the provider failed after retries                      exit 4
    ├── OracleError     the two oracles differ                                 exit 1
    └── RunLogError     a run folder is damaged or does not match              exit 3

A failed episode is a result; a failed run is an exception. Every error has the next step in `hint`.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from graphwalk.version import CHECKOUT


def did_you_mean(name: object, names: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return `; did you mean NAME?` with the closest of these names, "" if none is close."""
    from difflib import get_close_matches

    options = list(names)
    text = str(name)
    close = get_close_matches(text, options, 1, cutoff) or get_close_matches(text.lower(), options, 1, cutoff)
    return f"; did you mean {close[0]}?" if close else ""


class GraphwalkError(Exception):
    """Root of all errors that GraphWalk raises on purpose; `hint`, the next command or edit, is a part of its text."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def message(self) -> str:
        """The text without the hint."""
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.message}\n  try: {self.hint}" if self.hint else self.message


class ConfigError(GraphwalkError):
    """An experiment file, a flag or a template is wrong; the message names file, line and field if known."""

    exit_code: ClassVar[int] = 2


class StoreError(GraphwalkError):
    """The database cannot be reached, or refuses."""

    exit_code: ClassVar[int] = 3


class QueryLimitError(StoreError):
    """A query takes more than it may; `kind` is "timeout" or "too_large"."""

    def __init__(self, message: str, *, hint: str = "", kind: str = "timeout") -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class ModelError(GraphwalkError):
    """A provider call failed.

    `retryable`: trying again may help. `retry_after`: seconds that the server asks to wait, None if it did not say.
    `context_overflow`: the conversation is longer than the model's context window. `status`: of HTTP, None without one.
    """

    exit_code: ClassVar[int] = 4

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
        context_overflow: bool = False,
        status: int | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable
        self.retry_after = retry_after
        self.context_overflow = context_overflow
        self.status = status


class OracleError(GraphwalkError):
    """The Cypher and the Python oracle differ; the message has the rows that only one of them finds."""


class RunLogError(GraphwalkError):
    """A run folder is damaged or does not match; the message names the line. Nothing is overwritten."""

    exit_code: ClassVar[int] = 3


class FileNote(UserWarning):
    """How a file was read, where it leaves a choice."""


def counted(number: int, thing: str) -> str:
    """Return `1 episode`, `1,200 episodes`."""
    plural = "" if number == 1 else "s"
    return f"{number:,} {thing}{plural}"


def install_hint(extra: str) -> str:
    """Return the hint for a package of an extra of pyproject.toml: in a checkout, or for an installed package."""
    if CHECKOUT is not None:
        return f"pip install -e '.[{extra}]'   (in the checkout of GraphWalk)"
    return f"pip install 'graphwalk-agents[{extra}]', or the file of the wheel with [{extra}] after its name"


def manual(page: str) -> str:
    """Return the name of a page of the documentation: its file in a checkout, which an installed package lacks."""
    if CHECKOUT is not None:
        return f"docs/{page}.md"
    return f"GraphWalk's documentation, page {page.replace('_', ' ').capitalize()},"


class ToolMistake(Exception):  # noqa: N818 - a model's mistake is a result, not an error of the program
    """A call or query of a model that cannot be executed.

    `kind` is the class that results count, for example "bad_arguments", "syntax" or "timeout". `message` is the name of
    a text in tool_messages.yaml, `values` its parameters.
    """

    def __init__(self, kind: str, message: str, /, **values: Any) -> None:
        super().__init__(f"{kind}: {message} {values}")
        self.kind = kind
        self.message = message
        self.values = values


def is_panic(error: BaseException) -> bool:
    """Return True for a panic of a library written in Rust, which is no Exception although only a call failed."""
    return type(error).__name__ == "PanicException"
