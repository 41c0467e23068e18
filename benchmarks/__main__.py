"""The performance benchmark: `python -m benchmarks [NAME…] [--quick] [--full]` prints a table of ratios."""

import argparse
import sys
from collections.abc import Callable, Iterator

from benchmarks import model_calls
from benchmarks.measure import Row, table

BENCHMARKS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "model-calls": model_calls.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="once each, small")
    options = parser.parse_args()
    rows = []
    for name in options.names or BENCHMARKS:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += BENCHMARKS[name](options.quick)
    print(table(rows))


if __name__ == "__main__":
    main()
