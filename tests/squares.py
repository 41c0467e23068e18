"""Rows that cost nothing, for the tests of how rows are written."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.files.bulk import Rows

COLUMNS: dict[str, type] = {"number": int, "text": str, "parts": str, "half": float, "odd": bool}


def squares(count: int, *, wrong: int = -1) -> Rows:
    """Return rows of `count` numbers; the number `wrong` cannot be made."""
    make = partial(rows_of, wrong=wrong)
    return Rows(make, range(count), "squares", count)


def rows_of(numbers: Iterable[int], wrong: int = -1) -> Iterator[dict[str, Any]]:
    for number in numbers:
        if number == wrong:
            raise ConfigError(f"{number} is wrong", hint="another one")
        text = "é" if number % 3 else None
        yield {
            "number": number,
            "text": text,
            "parts": [number**2, {"a": 1}],
            "half": number / 2,
            "odd": number % 2 == 1,
        }
