"""Where the data files are: `templates/` and `tools/` beside the package in a checkout, inside it when installed."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def data_path(name: str) -> Path:
    """Path of a top-level data file or folder ("templates", "tools", "docker-compose.yml")."""
    checkout = _PACKAGE.parent
    root = checkout if (checkout / "pyproject.toml").exists() else _PACKAGE / "data"
    return root / name
