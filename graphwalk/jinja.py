"""Jinja environments: strict names, no escaping, bounded work, sandboxed.

All prompts, Cypher templates and pages are rendered here.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any
from unicodedata import combining, normalize

from jinja2 import (
    BaseLoader,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateRuntimeError,
    TemplateSyntaxError,
    meta,
    nodes,
)

from graphwalk.errors import ConfigError
from graphwalk.jinja_bounds import BoundedEnvironment, bounded_render, joined
from graphwalk.resources import data_path, quote


def with_article(noun: str) -> str:
    """Return the noun behind "a" or "an"; accents make no difference."""
    letters = "".join(letter for letter in normalize("NFKD", noun) if not combining(letter))
    return f"{'an' if _VOWEL_SOUND.match(letters) else 'a'} {noun}"


_VOWEL_SOUND = re.compile(
    r"""
    (?!(?i:eu|one|once|u(?:ni[^mn]|s[aeu]|ti)))     # European, one, unit
    (?!UU|U[A-Z]{0,2}(?:[A-Z][a-z]|[^A-Za-z]|$))    # UUID, URL
    (?i:[aeiouæøœ])
    | (?i:hour|hono|hones|heir)
    | [FHLMNRSX](?![A-Za-z])
    | (?!FJO|[HLMNS]Y|RY[EO]|SQU|(?:F[LR]?|[HL]|MN?|N|RH?|S(?:[CPT]?[HLR]|HR|[CKMNPTVW])?|X(?:YL)?)[AEIOU])
      [FHLMNRSX][A-Z]                               # MRI, but a word in capitals: MOVIE
    """,
    re.VERBOSE,
)
"""The last rule: D. Conway, An Algorithmic Approach to English Pluralization (Lingua::EN::Inflect)."""

TEXT_FILTERS: Mapping[str, Callable[..., str]] = {"quote": quote, "list": joined, "with_article": with_article}
"""Filters of prompts, tool texts and messages, in addition to Jinja's."""


class TextError(ValueError):
    """An error in a template. `line` counts from 1."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def make_environment(
    filters: Mapping[str, Callable[..., Any]],
    *,
    loader: BaseLoader | None = None,
    finalize: Callable[[Any], Any] | None = None,
    trim: bool = False,
) -> Environment:
    """Return an environment with additional filters. `trim`: lines with only a block produce no output line."""
    return BoundedEnvironment(
        filters,
        loader=loader,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=trim,
        lstrip_blocks=trim,
        autoescape=False,
    )


def check_text(text: str, known: Collection[str], filters: Iterable[str]) -> None:
    """Raise TextError if a text is malformed, or uses an unknown name or filter."""
    environment = make_environment(dict.fromkeys(filters, str))
    try:
        tree = environment.parse(text)
        environment.compile(text)
    except TemplateSyntaxError as error:
        raise TextError(f"line {error.lineno} of the text: {error.message}", error.lineno) from error
    except RecursionError as error:
        raise TextError("the text is nested too deeply", 1) from error
    except (ValueError, SyntaxError) as error:
        raise TextError(f"the text cannot be read: {error}", 1) from error
    if unknown := meta.find_undeclared_variables(tree) - set(known):
        line = min(name.lineno for name in tree.find_all(nodes.Name) if name.name in unknown)
        raise TextError(f"there is no {', '.join(sorted(unknown))}; known: {', '.join(sorted(known)) or 'none'}", line)


def names_in(text: str) -> set[str]:
    """Return the names that a text needs."""
    return meta.find_undeclared_variables(_texts().parse(text))


def included_in(text: str) -> set[str]:
    """Return the files that a text includes."""
    return {name for name in meta.find_referenced_templates(_texts().parse(text)) if name is not None}


def render_text(text: str, /, **values: Any) -> str:
    """Render a text of a data file. Raise jinja2.TemplateError if that fails."""
    return rendered(_compiled(text), values)


def rendered(template: Template, values: Mapping[str, Any]) -> str:
    """Render a template. Raise jinja2.TemplateRuntimeError for errors in expressions (1 / 0, "a" + 1)."""
    try:
        return bounded_render(lambda: template.render(values))
    except (ArithmeticError, AttributeError, LookupError, NameError, RecursionError, TypeError, ValueError) as error:
        raise TemplateRuntimeError(f"{type(error).__name__}: {error}") from error


def render_page(path: str, /, **values: Any) -> str:
    """Render the page `templates/<path>`. Raise ConfigError if it is missing or malformed, or lacks a value."""
    try:
        return rendered(_pages().get_template(path), values)
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
    return _texts().from_string(text)
