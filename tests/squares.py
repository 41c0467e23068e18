"""Rows that cost nothing, or time alone, for the tests of how rows are written."""

import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.files.bulk import Rows, write_in_parts

COLUMNS: dict[str, type] = {"number": int, "text": str, "parts": str, "half": float, "odd": bool}


def squares(count: int, *, seconds: float = 0.0, wrong: int = -1) -> Rows:
    """Return rows of `count` numbers; each part takes `seconds`, and the number `wrong` cannot be made."""
    make = partial(rows_of, seconds=seconds, wrong=wrong)
    return Rows(make, range(count), "squares", count, COLUMNS, {"count": count})


def rows_of(numbers: Iterable[int], seconds: float = 0.0, wrong: int = -1) -> Iterator[dict[str, Any]]:
    time.sleep(seconds)
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


if __name__ == "__main__":
    write_in_parts(squares(400, seconds=0.05), Path(sys.argv[1]), int(sys.argv[2]))
