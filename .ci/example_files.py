"""Files of the checkout as code blocks, for docs/extending.md and docs/experiments.md."""

from pathlib import Path

_LANGUAGES = {".j2": "jinja", ".py": "python", ".toml": "toml", ".yaml": "yaml"}


def code_block(path: str) -> str:
    """Return a file as a code block with its path as title."""
    file = Path(path)
    return f'```{_LANGUAGES[file.suffix]} title="{path}"\n{file.read_text(encoding="utf-8").strip()}\n```'
