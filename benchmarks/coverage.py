"""How often intervals hold the truth, and tests of no difference reject: by simulation, written into a page."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import binomtest

from benchmarks.clustered_outcomes import Cell, beta_binomial, latent_normal
from benchmarks.markers import DOCS, caption, markdown_table, write_between_markers
from graphwalk.analysis.statistics import compare_pairs, estimate_means, estimate_shares, subtract, tasks_of
from graphwalk.seeds import generator

CELLS = [Cell(*levels) for levels in product((5, 10, 30), (0.0, 0.1, 0.3), (1, 4), (0.1, 0.5, 0.95))]
PAGE = DOCS / "statistics.md"
METHODS = ("share", "t", "episodes", "share, beta")
TESTS = ("p ≤ 0.05", "covered")
_EPISODES_AT_ONCE = 1_000_000
_AMOUNTS_AT_ONCE = 2_000
_DIFFERENCE = 0.1
_HOLD, _REJECT = range(93, 97), range(4, 6)
"""Aims, in percent."""
AMOUNT_GRAPHS, AMOUNT_SPREADS = (3, 5, 10, 30, 100), (0.5, 1.0)
UNEQUAL = {"1, 2, 30, …": (1, 2, 30) * 3 + (1,), "4, 8, 12, …": (4, 8, 12) * 3 + (12,), "9 × 2, 60": (2,) * 9 + (60,)}
"""Tasks on each of 10 graphs, by the name of the design."""
UNEQUAL_CELLS = tuple(product(UNEQUAL, (0.0, 0.1, 0.3), (0.1, 0.5, 0.95)))
"""Design, correlation, accuracy."""
Share = dict[str, float]


def coverage(cell: Cell, draws: int, seed: int = 0) -> Share:
    """Per method, the share of 95 % intervals that hold the accuracy; as "width", the mean width of those of shares."""
    held: dict[str, list[NDArray[np.float64]]] = {name: [] for name in (*METHODS, "width")}
    for random, columns in _blocks(cell, draws, seed, "coverage"):
        (values,) = latent_normal(cell, random, columns, cell.accuracy)
        for name, (low, high) in _intervals(cell, values):
            held[name].append(_holds(low, high, cell.accuracy))
            if name == "share":
                held["width"].append(high - low)
        shares = estimate_shares(*tasks(beta_binomial(cell, random, columns), *cell.ids()))
        held["share, beta"].append(_holds(*_bounds(shares), cell.accuracy))
    return {name: float(np.concatenate(parts).mean()) for name, parts in held.items()}


def tasks(
    values: NDArray[np.float64], graphs: Sequence[int], tasks: Sequence[int], contestant: str = "contestant"
) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Return the tasks of the episodes of a contestant, with the columns of its name and of the experiments."""
    experiments = [str(number) for number in range(values.shape[1])]
    names = {"model": pl.lit(contestant), "setting": pl.lit("")}
    episodes = pl.DataFrame(values, experiments).with_columns(
        **names, graph=pl.Series(graphs), task_id=pl.Series(tasks), question=pl.Series(tasks)
    )
    return tasks_of(episodes, list(names), experiments), list(names), experiments


def _intervals(
    cell: Cell, values: NDArray[np.float64]
) -> Iterator[tuple[str, tuple[NDArray[np.float64], NDArray[np.float64]]]]:
    outcomes = tasks(values, *cell.ids())
    yield "share", _bounds(estimate_shares(*outcomes))
    yield "t", _bounds(estimate_means(*outcomes))
    low, high = np.array([wilson(int(right), len(values)) for right in values.sum(axis=0)]).T
    yield "episodes", (low, high)


@cache
def wilson(right: int, episodes: int) -> tuple[float, float]:
    """Wilson's interval, which takes every episode for independent."""
    interval = binomtest(right, episodes).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def amounts(graphs: int, spread: float, draws: int, seed: int = 0) -> float:
    """Return the share of 95 % t intervals that hold the mean of a log-normal amount, for example of calls.

    `spread`: standard deviation of the logarithm; of its variance half is common to the tasks of a graph.
    """
    random, held = generator(seed, "amounts", graphs, str(spread)), []
    graph, task = Cell(graphs, 0.5, 1, 0.5).ids()
    for begin in range(0, draws, _AMOUNTS_AT_ONCE):
        columns = min(_AMOUNTS_AT_ONCE, draws - begin)
        common = random.standard_normal((graphs, columns))[np.array(graph)]
        logarithm = spread * np.sqrt(0.5) * (common + random.standard_normal((len(task), columns)))
        estimates = estimate_means(*tasks(np.exp(logarithm), graph, task))
        held.append(_holds(*_bounds(estimates), float(np.exp(spread**2 / 2))))
    return float(np.concatenate(held).mean())


def rejections(cell: Cell, draws: int, seed: int = 0) -> Share:
    """Return the share of p ≤ 0.05 where two contestants are equally good. As "covered", the share of t intervals that
    hold a true difference of ten points (towards one half)."""
    other = cell.accuracy + (_DIFFERENCE if cell.accuracy <= 0.5 else -_DIFFERENCE)
    counts = dict.fromkeys(TESTS, 0)
    for random, columns in _blocks(cell, draws, seed, "rejections"):
        accuracies = {"first": cell.accuracy, "second": cell.accuracy, "better": other}
        contestants = latent_normal(cell, random, columns, *accuracies.values())
        frames = [tasks(values, *cell.ids(), name) for name, values in zip(accuracies, contestants, strict=True)]
        played, experiments = pl.concat([frame for frame, *_ in frames]), frames[0][2]
        equal = compare_pairs(played, _pair("first", "second"), experiments, seed=int(random.integers(2**32)))
        counts["p ≤ 0.05"] += equal.filter(pl.col("p_value") <= 0.05).height
        pair = _pair("better", "first")
        differences = estimate_means(subtract(played, pair, experiments), pair.columns, experiments)
        counts["covered"] += int(_holds(*_bounds(differences), other - cell.accuracy).sum())
    return {name: count / draws for name, count in counts.items()}


def unequal(design: str, correlation: float, accuracy: float, draws: int, seed: int = 0) -> tuple[float, float]:
    """Return how often intervals hold an accuracy, and a difference of ten points, if graphs have unequally many tasks.

    All graphs are drawn with the tasks of the largest; of the others the first ones count.
    """
    sizes = UNEQUAL[design]
    largest = max(sizes)
    cell = Cell(len(sizes), correlation, 1, accuracy, tasks=largest)
    places = [graph * largest + task for graph, size in enumerate(sizes) for task in range(size)]
    graphs = [place // largest for place in places]
    better = accuracy + (_DIFFERENCE if accuracy <= 0.5 else -_DIFFERENCE)

    shares, differences = [], []
    for random, columns in _blocks(cell, draws, seed, f"unequal {design}"):
        first, second = (values[places] for values in latent_normal(cell, random, columns, accuracy, better))
        shares.append(_holds(*_bounds(estimate_shares(*tasks(first, graphs, places))), accuracy))
        means = estimate_means(*tasks(second - first, graphs, places))
        differences.append(_holds(*_bounds(means), better - accuracy))
    return float(np.concatenate(shares).mean()), float(np.concatenate(differences).mean())


def unequal_table(draws: int) -> str:
    rows = []
    for design, correlation, accuracy in UNEQUAL_CELLS:
        held = unequal(design, correlation, accuracy, draws)
        figures = [_figure(share, _HOLD) for share in held]
        rows.append([design, f"{correlation:g}", f"{accuracy:g}", *figures])
    columns = ["tasks of the 10 graphs", "correlation", "accuracy", "accuracy held", "difference held"]
    return f"{caption('make coverage')} {draws:,} experiments per line.\n\n{markdown_table(columns, rows)}"


def _pair(first: str, second: str) -> pl.DataFrame:
    return pl.DataFrame({"first_model": first, "first_setting": "", "second_model": second, "second_setting": ""})


def _blocks(cell: Cell, draws: int, seed: int, purpose: str) -> Iterator[tuple[np.random.Generator, int]]:
    """As many draws at a time as fit into memory, with a generator for each block."""
    most = max(1, _EPISODES_AT_ONCE // len(cell.ids()[0]))
    for number, begin in enumerate(range(0, draws, most)):
        yield generator(seed, purpose, str(cell), number), min(most, draws - begin)


def _bounds(estimates: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """An estimate without an interval counts as one of no width."""
    low, high = (estimates[end].fill_null(estimates["value"]).to_numpy() for end in ("low", "high"))
    return low, high


def _holds(low: NDArray[np.float64], high: NDArray[np.float64], truth: float) -> NDArray[np.float64]:
    return ((low <= truth + 1e-12) & (high >= truth - 1e-12)).astype(np.float64)


def table(title: str, columns: Sequence[str], rows: Sequence[tuple[Cell, Share]], aims: dict[str, range]) -> str:
    """Markdown; a figure outside its aim is marked with ↓ or ↑."""
    lines = [
        f"**{title}**",
        "",
        "| graphs | correlation | repeats | accuracy | " + " | ".join(columns) + " |",
        "|---" * (4 + len(columns)) + "|",
    ]
    for cell, shares in rows:
        figures = [_figure(shares[name], aims.get(name)) for name in columns]
        levels = (cell.graphs, cell.correlation, cell.repeats, cell.accuracy)
        lines.append("| " + " | ".join([*(f"{level:g}" for level in levels), *figures]) + " |")
    lines.append("| | | | in the aim | " + " | ".join(_within(name, rows, aims) for name in columns) + " |")
    return "\n".join(lines)


def amounts_table(draws: int) -> str:
    rows = [
        [f"{graphs}", *(f"{100 * amounts(graphs, spread, draws):.1f}" for spread in AMOUNT_SPREADS)]
        for graphs in AMOUNT_GRAPHS
    ]
    table = markdown_table(
        ["graphs", *(f"standard deviation of the logarithm {one:g}" for one in AMOUNT_SPREADS)], rows
    )
    return f"{caption('make coverage')} {draws:,} experiments per figure.\n\n{table}"


def _figure(share: float, aim: range | None) -> str:
    percent = round(100 * share, 1)
    mark = "" if aim is None or aim.start <= percent <= aim.stop else " ↓" if percent < aim.start else " ↑"
    return f"{percent:.1f}{mark}"


def _within(name: str, rows: Sequence[tuple[Cell, Share]], aims: dict[str, range]) -> str:
    if name not in aims:
        return ""
    figures = [_figure(shares[name], aims[name]) for _, shares in rows]
    below, above = (sum(figure.endswith(mark) for figure in figures) for mark in "↓↑")
    return f"{len(figures) - below - above} (↓ {below}, ↑ {above})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=6_000, help="experiments per line for intervals; half for tests")
    options = parser.parse_args()
    begun = time.perf_counter()
    tests = max(1, options.draws // 2)
    covered, rejected = [], []
    write_between_markers(PAGE, "amounts", amounts_table(options.draws))
    write_between_markers(PAGE, "unequal", unequal_table(options.draws))
    for number, cell in enumerate(CELLS, 1):
        print(f"{number} of {len(CELLS)}: {cell}", file=sys.stderr, flush=True)
        covered.append((cell, coverage(cell, options.draws)))
        rejected.append((cell, rejections(cell, tests)))
    of_tests = {"p ≤ 0.05": _REJECT, "covered": _HOLD}
    tables = [
        table("Intervals of an accuracy: % that hold it", (*METHODS, "width"), covered, dict.fromkeys(METHODS, _HOLD)),
        table(
            "Two equal contestants: % with p ≤ 0.05, and % of t intervals that hold a difference of 10 points",
            TESTS,
            rejected,
            of_tests,
        ),
    ]
    write_between_markers(PAGE, "coverage", "\n\n".join([_heading(options.draws, tests), *tables]))
    print(f"{PAGE}: {time.perf_counter() - begun:.0f} s")


def _heading(draws: int, tests: int) -> str:
    errors = [100 * (share * (1 - share) / number) ** 0.5 for share, number in ((0.95, draws), (0.05, tests))]
    return (
        f"{caption('make coverage')} {draws:,} experiments per line for the intervals (Monte Carlo error at 95 %: "
        f"±{errors[0]:.1f}), {tests:,} for the tests (at 5 %: ±{errors[1]:.1f}). ↓ below the aim, ↑ above it."
    )


if __name__ == "__main__":
    main()
