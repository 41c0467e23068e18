"""The words of a question: Jinja text in which a value stands as JSON, so that text and numbers can be told apart."""

import json
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, TemplateSyntaxError, meta

WORDING_FILTERS = ("json",)
CYPHER_FILTERS = ("label", "type", "property", "hops")


def render_wording(text: str, values: dict[str, Any]) -> str:
    """The question that a model reads."""
    return _compiled(text).render(values).strip()


def check_text(text: str, known: Collection[str], filters: Iterable[str]) -> None:
    """ValueError where the Jinja text is malformed, or uses a name that is not known or another filter."""
    environment = Environment(autoescape=False)
    environment.filters.update(dict.fromkeys(filters, str))
    try:
        environment.compile(text)
    except TemplateSyntaxError as error:
        raise ValueError(f"line {error.lineno} of the text: {error.message}") from error
    if unknown := meta.find_undeclared_variables(environment.parse(text)) - set(known):
        raise ValueError(f"there is no {', '.join(sorted(unknown))}; known: {', '.join(sorted(known))}")


@lru_cache(maxsize=256)
def _compiled(text: str) -> Template:
    environment = Environment(undefined=StrictUndefined, autoescape=False)
    environment.filters["json"] = _json
    return environment.from_string(text)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
