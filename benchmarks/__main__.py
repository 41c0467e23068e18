"""The performance benchmark: prints a table of medians, spreads and ratios to the plain way."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator

from benchmarks import graphs, model_calls, start_up, tool_calls
from benchmarks.measure import Row, table

BENCHMARKS: dict[str, Callable[[bool, bool], Iterator[Row]]] = {
    "model-calls": lambda quick, full: model_calls.measure(quick),
    "tool-calls": lambda quick, full: tool_calls.measure(quick),
    "generation": graphs.measure_generation,
    "loading": graphs.measure_loading,
    "start-up": lambda quick, full: start_up.measure(quick),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small and once: do the benchmarks still run?")
    parser.add_argument("--full", action="store_true", help="a million nodes as well")
    options = parser.parse_args()
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"there is no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a server started for this is ended
    measured: list[Row] = []
    for name in options.names or BENCHMARKS:
        print(f"{name} …", file=sys.stderr, flush=True)
        measured += BENCHMARKS[name](options.quick, options.full)
    print(table(measured))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
