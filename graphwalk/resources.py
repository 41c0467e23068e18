"""The data files: `templates/` and `tools/` beside the package in a checkout, inside it when installed."""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ConfigError

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_PACKAGE = Path(__file__).parent
_LONGEST_QUOTE = 120
"""Characters of a value that are repeated to a model; a 10 MB argument is not sent back to it."""


def data_path(name: str) -> Path:
    """Path of a top-level data file or folder ("templates", "tools", "docker-compose.yml")."""
    checkout = _PACKAGE.parent
    root = checkout if (checkout / "pyproject.toml").exists() else _PACKAGE / "data"
    return root / name


def data_digest(*names: str) -> dict[str, str]:
    """SHA-256 (hex) of data files, by path below the data root; a folder stands for all files in it.

    A run records the digests of what its models read ("tools", "templates/prompts"), so that a resume sees a change.
    """
    root = data_path("")
    files = [file for name in names for file in _files(root / name)]
    return {file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def render_template(path: str, /, **values: Any) -> str:
    """The text of the Jinja file `templates/<path>`. ConfigError if it is missing, malformed or needs another value."""
    from jinja2 import TemplateError

    try:
        return _environment().get_template(path).render(values)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise ConfigError(f"templates/{path}{f':{line}' if line else ''}: {error.message}") from error


def render_text(text: str, /, **values: Any) -> str:
    """Jinja text from inside a data file, rendered as strictly as a file. Raises jinja2.TemplateError."""
    return _compiled(text).render(values)


def quote(value: Any) -> str:
    """A value as JSON, cut where it is long; characters that no encoding takes are escaped."""
    cut = isinstance(value, str) and len(value) > _LONGEST_QUOTE
    text = json.dumps(value[:_LONGEST_QUOTE] if cut else value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace").decode() + ("…" if cut else "")


@lru_cache(maxsize=1)
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(data_path("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["quote"] = quote
    environment.filters["list"] = _listed
    return environment


@lru_cache(maxsize=256)
def _compiled(text: str) -> "Template":
    return _environment().from_string(text)


def _listed(names: Sequence[str], separator: str = ", ") -> str:
    return separator.join(names)


def _files(path: Path) -> list[Path]:
    hidden = "__pycache__"
    return sorted(p for p in path.rglob("*") if p.is_file() and hidden not in p.parts) if path.is_dir() else [path]
