"""Changes of scoring that no test notices since they make no difference, and why."""

import re

REASONS: dict[str, dict[str, str]] = {}
"""Module → a pattern of the changed lines, `before → after` → why no test can notice."""


def reason(module: str, change: str) -> str | None:
    """Why a change makes no difference; None where nobody has said so."""
    found = (why for pattern, why in REASONS.get(module, {}).items() if re.search(pattern, change))
    return next(found, None)
