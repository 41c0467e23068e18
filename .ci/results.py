"""The tables and pictures of docs/results.md, from the published runs in results/.

python .ci/results.py       writes the page's pictures, docs/results-*.svg
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import polars as pl

from graphwalk.analysis.report.episodes import PLAYER
from graphwalk.analysis.report.plot_files import page_svg, styles_of
from graphwalk.analysis.report.plots import Plot, against_size, plots_of, series_of
from graphwalk.analysis.report.report import Report, report_of
from graphwalk.analysis.report.suite_report import BASELINE, CHANCE, SIZE
from graphwalk.analysis.statistics import estimate_means, tasks_of
from graphwalk.runs.folder import RunFolder

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"

Row = Mapping[str, Any]


class Player(NamedTuple):
    model: str
    """Without its server."""
    setting: str

    @property
    def words(self) -> str:
        return f"{self.model} {self.setting}"


def published(pattern: str) -> list[str]:
    """Return the names of the published runs that match a pattern."""
    return sorted(path.stem for path in RESULTS.glob(f"{pattern}.zip"))


@cache
def together(pattern: str) -> Report:
    """Measure all published runs that match a pattern as one, without explanations."""
    folders = [RunFolder.open(RESULTS / f"{name}.zip") for name in published(pattern)]
    return report_of(folders[0], chain.from_iterable(folder.records() for folder in folders))


def player(row: Row, which: str = "") -> Player:
    """Return the player of a row; `which`: first_ or second_, of a pair."""
    return Player(row[f"{which}model"].rpartition("/")[2], row[f"{which}setting"])


def row_of(rows: Sequence[Row], wanted: Player) -> Row:
    return next(row for row in rows if player(row) == wanted)


def number(row: Row, measure: str, digits: int = 1) -> str:
    """Return a measure with its 95 % interval, or – if it has no value."""
    value = row.get(measure)
    if value is None:
        return "–"
    interval = row["intervals"].get(measure)
    return f"{value:.{digits}f}" + (f" ({interval[0]:.{digits}f}–{interval[1]:.{digits}f})" if interval else "")


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figure(runs: str, who: str, measure: str = "accuracy", digits: int = 0) -> str:
    """Return the rounded mean of a measure over the players whose names match."""
    report = together(runs)
    rows = [*report.rows, *report.baselines]
    return f"{fmean(row[measure] for row in rows if fnmatchcase(player(row).words, who)):.{digits}f}"


def chance(runs: str, setting: str = "") -> str:
    """Return the share that guesses get right: of questions by computation, of MAGMA by the random agent, if it ran."""
    report = together(runs)
    guesses = (CHANCE_PLAYER, Player("random", setting))
    return next(
        (number(row, "accuracy").split()[0] for row in [*report.baselines, *report.rows] if player(row) in guesses), "–"
    )


def lead(first: tuple[str, str], second: tuple[str, str], measure: str = "accuracy") -> str:
    """Return first − second on the tasks of both, in percentage points with the 95 % interval.

    A player is a pattern of runs with a name.
    """
    both = values_of(*first, measure).join(values_of(*second, measure), on="task_id", suffix=" of second")
    both = both.with_columns(difference=100 * (pl.col(measure) - pl.col(f"{measure} of second")))
    (estimate,) = estimate_means(tasks_of(both, PLAYER, ["difference"]), PLAYER, ["difference"]).to_dicts()
    ends = f" ({estimate['low']:+.1f} to {estimate['high']:+.1f})" if estimate["low"] is not None else ""
    return f"{estimate['value']:+.1f}{ends}"


def adjusted(name: str, first: str, second: str, measure: str = "f1") -> str:
    """Return first − second of two settings of a published run, with its p adjusted for the comparisons of the run."""
    for pair in together(name).comparisons:
        settings = pair["first_setting"], pair["second_setting"]
        if {*settings} == {first, second}:
            difference = pair["measures"][measure]
            value = difference["difference"] * (1 if settings[0] == first else -1)
            p = difference["p_holm"]
            return f"{value:+.2f} (p {'< 0.001' if p < 0.001 else f'= {p:.3f}'} after Holm)"
    raise ValueError(f"{name} does not compare {first} and {second}")


def values_of(runs: str, who: str, measure: str) -> pl.DataFrame:
    """Return the episodes of a player, or of a baseline, in which a measure is known."""
    observed = together(runs).observed
    source = observed.baselines if who.endswith(f" {BASELINE}") else observed.episodes
    name = pl.format("{} {}", pl.col("model").str.split("/").list.last(), "setting")
    return source.filter(name == who, pl.col(measure).is_not_null())


COPYING = ("magma-*", f"repeat the previous state {BASELINE}")


@cache
def config(name: str) -> Mapping[str, Any]:
    """Return the configuration of a published run."""
    fields: Mapping[str, Any] = RunFolder.open(RESULTS / f"{name}.zip").read_manifest()["config"]
    return fields


def origin(name: str) -> str:
    """Return commit and date of a published run."""
    manifest = RunFolder.open(RESULTS / f"{name}.zip").read_manifest()
    return f"commit {manifest['commit'][:8]}, {manifest['created'][:10]}"


def training(name: str) -> Mapping[str, Any]:
    """Return the facts of the training of a pupil."""
    facts: Mapping[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return facts


def learnt_tokens(name: str) -> str:
    """Return the tokens of replies that a pupil learnt."""
    return f"{training(name)['learnt_tokens']:,}"


def learnt(name: str) -> str:
    """Return the share of the characters of the chats that are replies, which alone are learnt, in percent."""
    characters = training(name)["characters"]
    return f"{100 * characters['replies'] / characters['all']:.0f}"


LAST_STEPS = 10


def trainings() -> str:
    """Return a table of the trainings: tokens, share of learnt characters, and losses at the end."""

    def rows() -> Iterator[list[str]]:
        for path in sorted(RESULTS.glob("*.json")):
            facts, last = training(path.stem), training(path.stem)["losses"][-LAST_STEPS:]
            pupil, learnt_now = path.stem.partition("-")[2], facts.get("learnt_tokens")
            number = "–" if learnt_now is None else f"{learnt_now:,}"
            yield [f"`{pupil}`", f"{facts['tokens']:,}", number, learnt(path.stem), f"{fmean(last):.3f}"]

    head = ["pupil", "tokens", "of these learnt", "replies, % of characters", f"loss, last {LAST_STEPS} steps"]
    return table(head, rows())


def verdicts() -> str:
    """Return what the report of each run of untaught models concludes, as a list."""

    def lines() -> Iterator[str]:
        for name in UNTAUGHT:
            sentences = [text for text in together(name).verdict if not text.startswith("Wrong answers")]
            yield f"* `{name}`: {' '.join(sentences)}"

    return "\n".join(lines())


CHANCE_PLAYER = Player(CHANCE, BASELINE)
UNTAUGHT = ("comparison-qwen-1.5b", "graphwalks-qwen-1.5b", "mazes-qwen-1.5b")
"""Published runs of an untaught model."""


MAGMA = (
    ("final state", "accuracy", 1),
    ("earlier states", "intermediate_exact", 1),
    ("trajectory", "trajectory_exact", 1),
    ("F1", "f1", 2),
    ("F1 of the trajectory", "trajectory_f1", 2),
    ("missing prefix", "missing_prefix_per_reply", 2),
    ("false negatives", "false_negatives_per_reply", 2),
    ("hallucinations", "hallucinations_per_reply", 2),
    ("invalid items", "invalid_items_per_reply", 2),
)
"""Title, measure and digits of the columns; shares in percent, errors per reply."""


def magma_table() -> str:
    report = together("magma-*")
    by_player = {player(row): row for row in [*report.rows, *report.baselines]}

    def rows() -> Iterator[list[str]]:
        for name, row in by_player.items():
            yield [f"`{name.model}`", name.setting, str(row["tasks"]), *(number(row, *column[1:]) for column in MAGMA)]
            pair = [by_player.get(Player(f"{name.setting}-{seed}", name.setting)) for seed in (0, 1)]
            if row is pair[-1] and (first := pair[0]):
                means = [f"{(first[measure] + row[measure]) / 2:.{digits}f}" for _, measure, digits in MAGMA]
                yield [f"mean of `{name.setting}-0` and `-1`", name.setting, str(row["tasks"]), *means]

    return table(["model", "asked", "traces", *(title for title, *_ in MAGMA)], rows())


WALKING = tuple(
    Player(model, setting)
    for setting, models in {
        "tools": ("walk-0", "walk-1", "walk-more", "walk-long", "base"),
        "no_tools": ("read-0", "read-1", "read-long", "base"),
    }.items()
    for model in models
)
"""The pupils in the tables by size and kind, and their base."""


def algorithm_table() -> str:
    """Return correct final states by algorithm, of the pupils, of guesses and of copies."""
    report = together("magma-*")
    rows = [*report.groups["algorithm"], *report.baseline_groups["algorithm"]]
    players = ["io-0 io", "io-1 io", "is-0 is", "is-1 is", "random is", COPYING[1]]

    def lines() -> Iterator[list[str]]:
        for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
            shares = {player(row).words: row["accuracy"] for row in rows if row["algorithm"] == algorithm}
            yield [f"`{algorithm}`", *(f"{shares[name]:.0f}" for name in players)]

    return table(["final state", *(f"`{name}`" for name in players)], lines())


def walking_table(grouping: str, words: str) -> str:
    """Return the accuracy of pupils, their base and chance, by number of nodes or kind of question, and over all."""
    report = together("walking-*")
    grouped = [*report.groups[grouping], *report.baseline_groups[grouping]]
    groups = list(dict.fromkeys(row[grouping] for row in grouped))

    def rows() -> Iterator[list[str]]:
        for one in [*WALKING, CHANCE_PLAYER]:
            shares = {row[grouping]: row for row in grouped if player(row) == one}
            whole = row_of([*report.rows, *report.baselines], one)
            measured = [number(shares[group], "accuracy") if group in shares else "–" for group in groups]
            name = CHANCE if one is CHANCE_PLAYER else f"`{one.words}`"
            yield [name, str(whole.get("scored") or whole["tasks"]), *measured, number(whole, "accuracy")]

    return table(["", "questions", *(words.format(group) for group in groups), "all"], rows())


QWEN = "comparison-qwen-1.5b"
SETUPS = (("tools", "no_tools"), ("write_cypher", "tools"))
"""Compared settings of the untaught model."""
PAIRS = (
    ("magma-*", "is-0 is", "magma-*", "io-0 io"),
    ("magma-*", "is-1 is", "magma-*", "io-1 io"),
    ("magma-*", "io-0 io", "magma-*", "base io"),
    ("magma-*", "is-0 is", "magma-*", "base is"),
    ("magma-*", "io-0 io", "magma-*", "qwen-1.5b io"),
    ("magma-*", "is-0 is", "magma-*", "qwen-1.5b is"),
    ("magma-*", "is-0 is", *COPYING),
    ("magma-*", "is-1 is", *COPYING),
    ("walking-*", "walk-0 tools", "walking-*", "read-0 no_tools"),
    ("walking-*", "walk-1 tools", "walking-*", "read-1 no_tools"),
    ("walking-*", "read-long no_tools", "walking-*", "read-0 no_tools"),
    ("walking-*", "walk-long tools", "walking-*", "read-long no_tools"),
    ("walking-*", "walk-more tools", "walking-*", "read-long no_tools"),
    ("walking-*", "walk-long tools", "walking-*", "walk-0 tools"),
    ("walking-*", "walk-0 tools", "walking-*", "base tools"),
    ("walking-*", "read-0 no_tools", "walking-*", "base no_tools"),
    *((QWEN, f"qwen-1.5b {first}", QWEN, f"qwen-1.5b {second}") for first, second in SETUPS),
)
"""Compared players, first and second, each after its published runs."""


def differences() -> str:
    """Return a table of paired differences, first − second, with the graphs of both and the share of chance."""

    def rows() -> Iterator[list[str]]:
        for runs, first, others, second in PAIRS:
            tasks = values_of(runs, first, "accuracy").join(values_of(others, second, "accuracy"), on="task_id")
            graphs = tasks["graph"].n_unique()
            in_magma = runs.startswith("magma")
            measure = "later_exact" if second == COPYING[1] else "trajectory_exact"
            states = lead((runs, first), (others, second), measure) if in_magma else "–"
            guesses = chance(runs, first.rpartition(" ")[2])
            final = lead((runs, first), (others, second))
            yield [f"`{first}`", f"`{second}`", str(len(tasks)), str(graphs), guesses, final, states]

    return table(
        ["first", "second", "tasks", "graphs", "chance %", "correct, or final state", "states of both"], rows()
    )


def size_table() -> str:
    """Return accuracy of the untaught model by number of nodes, with that of chance; – without an answer yet."""
    report = together(QWEN)
    players = [player(row) for row in report.rows]
    grouped = [*report.groups[SIZE], *report.baseline_groups[SIZE]]

    def cell(rows: Sequence[Row], one: Player) -> str:
        row = next((row for row in rows if player(row) == one), None)
        return "–" if row is None else f"{number(row, 'accuracy')} of {row['scored']}"

    def rows() -> Iterator[list[str]]:
        for nodes in dict.fromkeys(row[SIZE] for row in grouped):
            same = [row for row in grouped if row[SIZE] == nodes]
            yield [
                f"{nodes} nodes",
                *(cell(same, one) for one in players),
                number(row_of(same, CHANCE_PLAYER), "accuracy"),
            ]

    return table(["", *(f"`{one.setting}`" for one in players), "chance"], rows())


def correct(name: str, setting: str) -> str:
    """Return the number of correct answers of a setting of a published run."""
    return str(next(row["correct"] for row in together(name).rows if row["setting"] == setting))


def untaught_table() -> str:
    """Return how the untaught model did, and why answers were wrong; a row per run and setting."""

    def rows() -> Iterator[list[str]]:
        for name in UNTAUGHT:
            report, what = report_of(RunFolder.open(RESULTS / f"{name}.zip")), name.partition("-")[0]
            for row in report.rows:
                yield [what, row["setting"], *cells(name, row, report)]
            row = next((row for row in report.baselines if row["model"] == CHANCE), None)
            if row is not None:
                yield [what, row["model"], str(row["tasks"]), number(row, "accuracy"), number(row, "f1", 2), *["–"] * 3]

    def cells(name: str, row: Row, report: Report) -> Iterator[str]:
        causes = {cause.heading.lower(): row.get(cause.field) or 0 for cause in report.suite.causes}
        commonest = sorted(causes, key=lambda words: -causes[words])[:3]
        yield from (str(row["scored"]), number(row, "accuracy"), number(row, "f1", 2))
        yield "–" if row["setting"].startswith("no_tools") else str(row["tool_calls"])
        yield str(refused_calls(name, row["setting"]))
        yield ", ".join(f"{words} {causes[words]}" for words in commonest if causes[words]) or "–"

    head = "task, setting, answers, correct %, F1, calls, refused, causes of wrong answers"
    return table(head.split(", "), rows())


def refused_calls(name: str, setting: str) -> int:
    """Return the number of calls of a setting of a published run that were refused."""
    records = (record for record in RunFolder.open(RESULTS / f"{name}.zip").records() if record["setting"] == setting)
    turns = chain.from_iterable(record["trajectory"]["turns"] for record in records)
    return sum(result.get("error") is not None for turn in turns for result in turn.get("results", ()))


PICTURES = {
    ("magma", "states-average"): ("io-0 io", "is-0 is", "qwen-1.5b is", "base is"),
    ("walking", "accuracy-by-size"): (
        *("walk-0 tools", "walk-1 tools", "walk-long tools"),
        *("read-0 no_tools", "read-1 no_tools", "read-long no_tools"),
    ),
}
"""Players of a picture, by runs and the plot of their report."""


def pictures() -> Iterator[Plot]:
    """Yield the pictures of the page, with models named without their server."""
    for (runs, wanted), players in PICTURES.items():
        report = together(f"{runs}-*")
        by_size = against_size(report, "nodes of the graph")
        plot = next(plot for plot in (by_size, *plots_of(report)) if plot.name == wanted)
        named = (replace(one, name=one.name.rpartition("/")[2].replace(" · ", " ")) for one in plot.series)
        guesses = [row for row in report.baseline_groups.get(SIZE, ()) if row["model"] == CHANCE]
        chances = series_of(guesses, SIZE, "accuracy", 1, True, x=float)
        series = (*(one for one in named if one.name in players), *chances)
        yield replace(plot, name=f"results-{runs}", series=series)


def main() -> None:
    plots = list(pictures())
    styles = styles_of(plots)
    for plot in plots:
        (ROOT / "docs" / f"{plot.name}.svg").write_text(page_svg(plot, styles), encoding="utf-8")


if __name__ == "__main__":
    main()
