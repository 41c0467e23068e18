"""Jinja environments: strict names, no escaping, sandboxed. All prompts, Cypher templates and pages are rendered here.

The sandbox keeps a template from running code and from reading what it is not passed. It does not keep a template
from wasting time: read another author's file before you run it, and stop it with Ctrl-C.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache
from traceback import extract_tb
from typing import Any
from unicodedata import combining, normalize

from jinja2 import (
    BaseLoader,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
    meta,
    nodes,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.files.resources import data_path, quote


def joined(values: Iterable[Any], separator: str = ", ") -> str:
    """Join values as text."""
    return separator.join(map(str, values))


def with_article(noun: str) -> str:
    """Return the noun behind "a" or "an"; accents make no difference."""
    letters = "".join(letter for letter in normalize("NFKD", noun) if not combining(letter))
    return f"{'an' if _VOWEL_SOUND.match(letters) else 'a'} {noun}"


_VOWEL_SOUND = re.compile(r"(?!(?i:eu|one|once|u(?:ni[^mn]|s[aeu]|ti)))(?!U[A-Z]{0,2}$)(?i:[aeiouæøœ])")
"""Not European, one, unit, URL."""

TEXT_FILTERS: Mapping[str, Callable[..., str]] = {"quote": quote, "list": joined, "with_article": with_article}
"""Filters of prompts, tool texts and messages, in addition to Jinja's."""


class TextError(ValueError):
    """An error in a template. `line` counts from 1; `file` is None for a template that is no file."""

    def __init__(self, problem: str, line: int, file: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.file = file


class _Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox without global functions."""

    def __init__(self, **options: Any) -> None:
        super().__init__(optimized=False, **options)  # expressions are evaluated while rendering, not while reading
        self.globals.clear()
        del self.filters["random"]  # same seed, same text


def make_environment(
    filters: Mapping[str, Callable[..., Any]],
    *,
    loader: BaseLoader | None = None,
    finalize: Callable[[Any], Any] | None = None,
    trim: bool = False,
) -> Environment:
    """Return an environment with additional filters. `trim`: lines with only a block produce no output line."""
    environment = _Sandbox(
        loader=loader,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=trim,
        lstrip_blocks=trim,
        autoescape=False,
    )
    environment.filters.update(filters)
    return environment


def check_text(text: str, names: Collection[str], filters: Iterable[str]) -> None:
    """Raise TextError if a text is malformed, or uses an unknown name or filter."""
    environment = make_environment(dict.fromkeys(filters, str))
    try:
        tree = environment.parse(text)
        environment.compile(text)
    except TemplateSyntaxError as error:
        raise TextError(f"line {error.lineno} of the text: {error.message}", error.lineno) from error
    if unknown := meta.find_undeclared_variables(tree) - set(names):
        line = min(node.lineno for node in tree.find_all(nodes.Name) if node.name in unknown)
        raise TextError(f"there is no {', '.join(sorted(unknown))}; known: {', '.join(sorted(names)) or 'none'}", line)


def names_in(text: str) -> set[str]:
    """Return the names that a text needs."""
    return meta.find_undeclared_variables(_texts().parse(text))


def included_in(text: str) -> set[str]:
    """Return the files that a text includes."""
    return {name for name in meta.find_referenced_templates(_texts().parse(text)) if name is not None}


def render_text(text: str, /, **values: Any) -> str:
    """Render a text of a data file. Raise TextError if that fails."""
    return rendered(_compiled(text), values)


def compiled(environment: Environment, text: str) -> Template:
    """Compile a text. Raise TextError if it is malformed."""
    try:
        return environment.from_string(text)
    except TemplateError as error:
        raise _text_error(error) from error


def rendered(template: Template, values: Mapping[str, Any]) -> str:
    """Render a template. Raise TextError, with file and line, for any error in it (1 / 0, "a" + 1)."""
    try:
        return template.render(values)
    except GraphwalkError:
        raise
    except Exception as error:  # a template can raise whatever its expressions and filters raise
        raise _text_error(error, template.filename) from error


def _text_error(error: Exception, file: str | None = None) -> TextError:
    """Return the error with the line of the template `file`, or of the file that it includes, where it was raised."""
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename.endswith((".j2", "<template>"))]
    file, line = (frames[-1].filename, frames[-1].lineno) if frames else (file, None)
    if isinstance(error, TemplateSyntaxError):
        file, line = error.filename, error.lineno
    problem = str(error) if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
    return TextError(problem, line or 1, None if file == "<template>" else file)


def render_page(path: str, /, **values: Any) -> str:
    """Render the page `templates/<path>`. Raise ConfigError if it is missing or malformed, or lacks a value."""
    try:
        return rendered(_pages().get_template(path), values)
    except TextError as error:
        raise ConfigError(f"templates/{path}:{error.line}: {error.problem}") from error
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise ConfigError(f"templates/{path}{f':{line}' if line else ''}: {error.message}") from error


@cache
def _texts() -> Environment:
    return make_environment(TEXT_FILTERS, trim=True)


@cache
def _pages() -> Environment:
    return make_environment(TEXT_FILTERS, loader=FileSystemLoader(data_path("templates")), trim=True)


@lru_cache(maxsize=256)
def _compiled(text: str) -> Template:
    return compiled(_texts(), text)
