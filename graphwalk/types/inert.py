"""Foreign text that a terminal, a table or a page shows: nothing in it acts, hides or reorders what stands there."""

import unicodedata
from typing import Any

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def visible(text: Any, longest: int = 200) -> str:
    """Text on one line with control characters, and characters that hide or reorder text, spelled out."""
    shown = str(text)
    cut = shown[:longest] + "…" if len(shown) > longest else shown
    return cut if cut.isascii() and cut.isprintable() else "".join(map(_spelled, cut))


def _spelled(character: str) -> str:
    hidden = unicodedata.category(character) in _HIDDEN
    return character.encode("unicode_escape").decode("ascii") if hidden else character
