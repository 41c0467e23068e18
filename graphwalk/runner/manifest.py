"""`run.json`: what a run was asked for, by which version it was begun, and what decides its results."""

import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from pydantic import ValidationError

from graphwalk.config.calls import Price
from graphwalk.errors import RunLogError
from graphwalk.models.prices import KnownPrice, own_price
from graphwalk.resources import PACKAGE
from graphwalk.runner.resolve import Experiment
from graphwalk.types.episode import SCHEMA_VERSION
from graphwalk.version import __version__

_LIBRARIES = ("langgraph", "openai", "aiohttp", "neo4j", "kglite", "numpy", "pydantic")


def new_manifest(experiment: Experiment, run_id: str, created: str) -> dict[str, Any]:
    """The manifest before graphs and tasks are made. It holds no secret: keys never enter a configuration."""
    config = experiment.config
    return {
        "schema_version": SCHEMA_VERSION,
        "graphwalk_version": __version__,
        "run_id": run_id,
        "name": config.name,
        "created": created,
        "commit": _commit(),
        "python": platform.python_version(),
        "libraries": {name: metadata.version(name) for name in _LIBRARIES},
        "config": {**config.model_dump(mode="json"), "models": list(experiment.models)},
        "prices": {model: price.model_dump(mode="json") for model, price in experiment.prices.items()},
        "fingerprint": None,
    }


def _commit() -> str | None:
    """The commit of the checkout that GraphWalk runs from; None for an installed package."""
    root = PACKAGE.parent
    if not (root / ".git").exists():
        return None
    try:
        asked = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40"]
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=5).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def prices_in(manifest: Mapping[str, Any]) -> dict[str, KnownPrice]:
    """The prices that a run began with. RunLogError where they cannot be read."""
    try:
        # Runs of earlier versions knew the user's prices only.
        known = manifest.get("prices")
        if known is None:
            own = manifest["config"].get("prices", {})
            return {model: own_price(Price.model_validate(price)) for model, price in own.items()}
        return {model: KnownPrice.model_validate(price) for model, price in known.items()}
    except (ValidationError, AttributeError) as error:
        raise RunLogError(f"run.json: its prices cannot be read: {error}") from None
