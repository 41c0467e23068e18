"""Rows of numbers, which cost nothing to make, for the tests of how rows are written to files."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.files.bulk import Rows

COLUMNS: dict[str, type] = {"number": int, "text": str, "parts": str, "half": float, "odd": bool}


def number_rows(count: int, *, wrong: int = -1) -> Rows:
    """Return rows of the numbers below `count`; the row of the number `wrong` cannot be made."""
    make = partial(rows_of_numbers, wrong=wrong)
    return Rows(make, range(count), "squares", count)


def rows_of_numbers(numbers: Iterable[int], wrong: int = -1) -> Iterator[dict[str, Any]]:
    """Yield rows like {"number": 3, "text": None, "parts": [9, {"a": 1}], "half": 1.5, "odd": True}."""
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
