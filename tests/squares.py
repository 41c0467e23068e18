"""Rows that cost nothing, or time alone, for the tests of how rows are written."""

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from graphwalk.bulk import Rows, in_ranges, write_rows
from graphwalk.errors import ConfigError

COLUMNS: dict[str, type] = {"number": int, "text": str, "parts": list, "half": float, "odd": bool}


def squares(count: int, size: int = 10, *, seconds: float = 0.0, wrong: int = -1) -> Rows:
    """`count` numbers, `size` to a part; each part takes so many `seconds`, and the number `wrong` cannot be made."""
    about = {"count": count, "size": size}
    return Rows("squares", partial(_made, seconds, wrong), partial(in_ranges, 0, count, size), COLUMNS, about, count)


def _made(seconds: float, wrong: int, numbers: tuple[int, int]) -> Iterator[dict[str, Any]]:
    time.sleep(seconds)
    for number in range(*numbers):
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
    write_rows(squares(400, seconds=0.05), Path(sys.argv[1]), int(sys.argv[2]))
