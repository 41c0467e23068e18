"""How fast MAGMA's traces are made, and how many times faster than dm-clrs makes its own, where that is installed.

    python -m benchmarks.magma_generation [--count 10000] [--nodes 15]

Processor time, so that other work on the machine counts little. The ratio is taken at edge probability 0.25, the one
that dm-clrs's sampler has in effect; `make clrs` installs dm-clrs in an environment of its own.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from benchmarks.measure import Row
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.magma.generate import ALGORITHMS, make_traces

SAMPLED = 1000
"""Graphs that dm-clrs is timed on."""


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def ours(algorithm: str, nodes: int, count: int, p: float, check: bool) -> float:
    """Seconds for all traces."""
    spec = MagmaSpec(algorithm=algorithm, nodes=nodes, p=p, split="train", count=count)
    return seconds(lambda: sum(1 for _ in make_traces(spec, 1, check=check)))


def theirs(algorithm: str, nodes: int) -> float:
    """Seconds for one graph."""
    import clrs

    return seconds(lambda: clrs.build_sampler(algorithm, num_samples=SAMPLED, length=nodes, seed=1)) / SAMPLED


def measure(quick: bool, full: bool) -> Iterator[Row]:
    """Rows of `python -m benchmarks magma`; the ratio is to dm-clrs's sampler, in the environment of `make clrs`."""
    count = 100 if quick else 10_000
    has_clrs = find_spec("clrs") is not None
    for algorithm in ALGORITHMS:
        name = f"MAGMA: {count} traces of {algorithm}, 15 nodes" + (", ÷ dm-clrs's sampler" if has_clrs else "")
        plain = [theirs(algorithm, 15) * count] if has_clrs else []
        yield Row(name, ours=[ours(algorithm, 15, count, 0.25, False)], plain=plain, aim=0.1 if has_clrs else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=15)
    options = parser.parse_args()
    has_clrs = find_spec("clrs") is not None
    print(f"{options.count} traces of {options.nodes} nodes, seconds")
    print(f"{'':15} {'p = 0.5':>8} {'checked':>8} {'p = 0.25':>8}" + ("  dm-clrs   ratio" if has_clrs else ""))
    for algorithm in ALGORITHMS:
        cases = ((0.5, False), (0.5, True), (0.25, False))
        plain, checked, sparse = (ours(algorithm, options.nodes, options.count, p, check) for p, check in cases)
        line = f"{algorithm:15} {plain:8.2f} {checked:8.2f} {sparse:8.2f}"
        if has_clrs:
            reference = theirs(algorithm, options.nodes) * options.count
            line += f" {reference:8.2f} {reference / sparse:6.1f}×"
        print(line, flush=True)


if __name__ == "__main__":
    main()
