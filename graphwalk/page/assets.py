"""Scripts and styles of the page, each as one text, and the policy that lets a browser run these and nothing else."""

import base64
import hashlib
import json
from functools import cache
from typing import Any

from graphwalk.resources import data_path

_SCRIPTS = (
    "dom",
    "data",
    "tables",
    "plots",
    "filters",
    "list",
    "layout",
    "graph",
    "grid",
    "walk",
    "turns",
    "episode",
    "paper",
)
_LAST = "main"
_STYLES = ("page", "episode")


@cache
def script() -> str:
    """In the order in which they need each other."""
    return '"use strict";\n' + "\n".join(_read(f"{name}.js") for name in (*_SCRIPTS, _LAST))


@cache
def style() -> str:
    return "\n".join(_read(f"{name}.css") for name in _STYLES)


def policy(blocks: str = "", connect: str = "'none'") -> str:
    """`blocks`: where scripts with episodes may come from; `connect`: what may be asked for."""
    return (
        f"default-src 'none'; script-src '{_hash(script())}'{blocks}; style-src '{_hash(style())}'; img-src data:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def inert_json(value: Any) -> str:
    """JSON that can stand in an HTML script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _read(name: str) -> str:
    return (data_path("templates") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
