"""Data files: `templates/` and `tools/` beside the package in a checkout, inside it when installed."""

import json
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent
_LONGEST_QUOTE = 120
"""Characters of a value that are repeated to a model; a 10 MB argument is not sent back to it."""


def data_path(name: str) -> Path:
    """Return the path of a data file or folder ("templates", "tools", "docker-compose.yml")."""
    checkout = PACKAGE.parent
    root = checkout if (checkout / "pyproject.toml").exists() else PACKAGE / "data"
    return root / name


def quote(value: Any) -> str:
    """Return a value as JSON, shortened if long, with lone surrogates escaped."""
    cut = isinstance(value, str) and len(value) > _LONGEST_QUOTE
    text = json.dumps(value[:_LONGEST_QUOTE] if cut else value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace").decode() + ("…" if cut else "")
