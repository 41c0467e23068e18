"""The words of a question: Jinja text in which a value stands as JSON, so that text and numbers can be told apart."""

import json
from functools import lru_cache
from typing import Any

from jinja2 import Template

from graphwalk.jinja import make_environment, rendered, with_article

WORDING_FILTERS = ("json", "with_article")
CYPHER_FILTERS = ("label", "type", "property", "of", "hops", "key_of", "properties_of")


def render_wording(text: str, values: dict[str, Any]) -> str:
    """The question that a model reads."""
    return rendered(_compiled(text), values).strip()


@lru_cache(maxsize=256)
def _compiled(text: str) -> Template:
    return make_environment({"json": _json, "with_article": with_article}).from_string(text)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
