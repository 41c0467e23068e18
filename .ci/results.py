"""The tables and the picture of docs/results.md and README.md, from the published runs in results/.

python .ci/results.py       writes the picture docs/results-sizes.svg
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.compare import compare_runs
from graphwalk.analysis.report.episodes import observe
from graphwalk.analysis.report.plot_files import page_svg
from graphwalk.analysis.report.plots import Plot, against_size
from graphwalk.analysis.report.report import Report, report_of
from graphwalk.analysis.report.rows import ReportRow
from graphwalk.analysis.report.suite_report import BASELINE, CHANCE, CONSTANT, PERCENT, PROVEN
from graphwalk.analysis.statistics import compare_pairs, holm, tasks_of
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.runs.folder import RunFolder

ROOT = Path(__file__).resolve().parents[1]
TAUGHT = ("walking-walk-long", "walking-read-long", "walking-walk-more")
"""The claim's two pupils, and the walker that learnt as many tokens as the reader."""
WALKING = (*TAUGHT, "walking-walk-0", "walking-read-0", "walking-walk-1", "walking-read-1", "walking-base")
UNTAUGHT = ("comparison-qwen-1.5b",)
PUPILS = ("magma-is-0", "magma-is-1", "magma-io-0", "magma-io-1")
STEPS = (*PUPILS, "magma-base", "magma-qwen-1.5b", "magma-is-0-free")
COPY = "repeat the previous state"
PATHS = "path_from_specific_node"
LOOK_UP = "node_by_property"

Row = Mapping[str, Any]


def folder_of(name: str) -> RunFolder:
    return RunFolder.open(ROOT / "results" / f"{name}.zip")


@cache
def records_of(name: str) -> list[dict[str, Any]]:
    """Return the results of a published run with their explanations."""
    return list(explained(folder_of(name)))


@cache
def report_on(runs: tuple[str, ...]) -> Report:
    """Return the report of published runs, measured together."""
    return report_of(folder_of(runs[0]), chain.from_iterable(map(records_of, runs)))


@cache
def tasks_on(runs: tuple[str, ...]) -> pl.DataFrame:
    """Return accuracy by contestant (`model`; `setting` is empty) and task, with those of the baselines."""
    first = folder_of(runs[0])
    declared, protocol = analysis_of(first.suite).report(), first.read_manifest()["config"]["protocol"]
    observed = observe(chain.from_iterable(map(records_of, runs)), declared, protocol)
    episodes = pl.concat([observed.episodes, observed.baselines], how="vertical_relaxed")
    names = [contestant(model, setting) for model, setting in episodes.select("model", "setting").iter_rows()]
    named = episodes.with_columns(model=pl.Series(names, dtype=pl.String), setting=pl.lit(""))
    return tasks_of(named, ("model", "setting"), ["accuracy"])


def contestant(model: str, setting: str) -> str:
    """Return model and setting, without the model's server; a baseline has no setting."""
    model = model.rpartition("/")[2]
    return model if setting == BASELINE else f"{model} {setting}"


def contestant_of(row: ReportRow) -> str:
    return contestant(row.model, str(row.setting))


def number(row: ReportRow | None, measure: str) -> str:
    """Return a percentage with its 95 % interval, or – if it has no value."""
    if row is None or row.figures.get(measure) is None:
        return "–"
    text = f"{row.number(measure):.1f}"
    interval = row.intervals.get(measure)
    return text if interval is None else f"{text} ({interval.low:.1f}–{interval.high:.1f})"


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdict(*runs: str) -> str:
    """Return what `graphwalk compare` concludes, as a list without servers and folders; sizes are left out."""
    sentences = compare_runs([ROOT / "results" / f"{name}.zip" for name in runs]).verdict
    chosen = [text for text in sentences if not text.startswith(("Wrong answers", "Graph size"))]
    return "\n".join(f"* {re.sub(r'openai-api/local/| @ [-.a-z0-9]+', '', text)}" for text in chosen)


def training(name: str) -> Mapping[str, Any]:
    """Return the facts of the training of a pupil, nothing for a model as it is."""
    path = ROOT / "results" / f"{name}.json"
    facts: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return facts


def whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def shares(runs: tuple[str, ...]) -> str:
    """Return a table of the contestants: right, right and proven answers; and what a guess and a constant get right."""
    report = report_on(runs)
    guesses = {row.model: row for row in report.baselines}

    def rows() -> Iterator[list[str]]:
        for row in report.rows:
            constant, chance = (number(guesses.get(name), "accuracy") for name in (CONSTANT, CHANCE))
            yield [
                contestant_of(row),
                str(row.count("scored")),
                number(row, "accuracy"),
                number(row, PROVEN),
                constant,
                chance,
            ]

    return table(["", "answers", "right %", "right and proven %", "best constant %", "chance %"], rows())


def tokens(runs: tuple[str, ...]) -> str:
    """Return a table of the tokens of training, and of those that a question takes: read and written."""

    def rows() -> Iterator[list[str]]:
        for name in runs:
            facts, usage = training(name), [record["usage"] for record in records_of(name)]
            read, written = (sum(one[side] for one in usage) / len(usage) for side in ("input_tokens", "output_tokens"))
            in_training = [whole(facts.get("tokens")), whole(facts.get("learnt_tokens"))]
            yield [name.partition("-")[2], *in_training, whole(read), whole(written)]

    head = ["", "read in training", "of these learnt", "read for a question", "written for a question"]
    return table(head, rows())


@dataclass(frozen=True)
class Pair:
    """Two contestants, or two differences of contestants ("is-0 is − base is"), to compare on the tasks of both.

    `only` and `without` are kinds of questions.
    """

    first: str
    second: str
    about: str
    only: str | None = None
    without: str | None = None


WALKS_OVER_READING = (
    Pair("walk-long tools", "read-long no_tools", "equal tokens read: the claim"),
    Pair("walk-more tools", "read-long no_tools", "equal tokens learnt: its control"),
    Pair("walk-long tools", "read-long no_tools", f"the claim without `{PATHS}`", without=PATHS),
    Pair("walk-long tools", "walk-more tools", "twelve times the training"),
    Pair("walk-long tools", "walk-0 tools", f"`{LOOK_UP}` alone", only=LOOK_UP),
    Pair("walk-0 tools", "read-0 no_tools", "90,000 tokens learnt, first seed"),
    Pair("walk-1 tools", "read-1 no_tools", "90,000 tokens learnt, second seed"),
    Pair("walk-0 tools", "base tools", "learning to walk"),
    Pair("read-0 no_tools", "base no_tools", "learning to read"),
)
ASKING_AND_LEARNING = (
    Pair("base is", "base io", "asking the untaught base for steps"),
    Pair("qwen-1.5b is", "qwen-1.5b io", "asking the untaught Qwen for steps"),
    Pair("is-0 is", "base is", "learning steps, first seed"),
    Pair("is-1 is", "base is", "learning steps, second seed"),
    Pair("io-0 io", "base io", "learning results, first seed"),
    Pair("io-1 io", "base io", "learning results, second seed"),
    Pair("is-0 is − base is", "io-0 io − base io", "difference in differences, first seed"),
    Pair("is-1 is − base is", "io-1 io − base io", "difference in differences, second seed"),
    Pair("base is − base io", "is-0 is − base is", "asking against learning, first seed"),
    Pair("base is − base io", "is-1 is − base is", "asking against learning, second seed"),
    Pair("is-0 is", "io-0 io", "learnt and asked, first seed"),
    Pair("is-1 is", "io-1 io", "learnt and asked, second seed"),
    Pair("is-0 is", COPY, "copying the state before, first seed"),
    Pair("is-1 is", COPY, "copying the state before, second seed"),
    Pair("is-0 is", "qwen-1.5b is", "taught against untaught, first seed"),
    Pair("is-1 is", "qwen-1.5b is", "taught against untaught, second seed"),
    Pair("is-0-free is_own", "io-0 io", "after its own states"),
    Pair("is-0-free is_own", "is-0 is", "own states against correct ones"),
)


def values_of(tasks: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return the accuracy of a contestant by task, or of "FIRST − SECOND" the differences on the tasks of both."""
    first, minus, second = name.partition(" − ")
    rows = tasks.filter(pl.col("model") == first)
    if minus:
        others = tasks.filter(pl.col("model") == second).select("task_id", subtracted="accuracy")
        rows = rows.join(others, on="task_id", maintain_order="left")
        rows = rows.with_columns(model=pl.lit(name), accuracy=pl.col("accuracy") - pl.col("subtracted"))
    return rows.select(tasks.columns)


def of_kind(kind: str) -> pl.Expr:
    """Return a filter of the tasks of a kind of question: "1ea2ec0b8f50-node_count-0" is of `node_count`."""
    return pl.col("task_id").str.contains(f"-{kind}-", literal=True)


def compared(runs: tuple[str, ...], pair: Pair) -> Row:
    """Return the paired comparison of `statistics.compare_pairs`, with the graph as cluster."""
    tasks = tasks_on(runs)
    if pair.only is not None:
        tasks = tasks.filter(of_kind(pair.only))
    if pair.without is not None:
        tasks = tasks.filter(~of_kind(pair.without))
    both = pl.concat([values_of(tasks, pair.first), values_of(tasks, pair.second)])
    names = {"first_model": pair.first, "first_setting": "", "second_model": pair.second, "second_setting": ""}
    seed = folder_of(runs[0]).read_manifest()["config"]["seed"]
    (row,) = compare_pairs(both, pl.DataFrame([names]), ["accuracy"], seed=seed).to_dicts()
    return row


def differences(runs: tuple[str, ...], pairs: Sequence[Pair]) -> str:
    """Return a table of paired differences in percentage points, with p alone and adjusted over the table."""
    rows = [compared(runs, pair) for pair in pairs]
    adjusted = holm([row["p_value"] for row in rows])

    def lines() -> Iterator[list[str]]:
        for pair, row, p_holm in zip(pairs, rows, adjusted, strict=True):
            points = f"{PERCENT * row['value']:+.1f}"
            if row["low"] is not None:
                points += f" ({PERCENT * row['low']:.1f} to {PERCENT * row['high']:.1f})"
            sizes = [f"{row['n']:.0f}", f"{row['clusters']:.0f}"]
            yield [pair.about, pair.first, pair.second, *sizes, points, p_text(row["p_value"]), p_text(p_holm)]

    head = ["", "first", "second", "tasks", "graphs", "first − second, points", "p", "p after Holm"]
    return table(head, lines())


def p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def groups(runs: tuple[str, ...], grouping: str, title: str) -> str:
    """Return right answers in %: a row per group, a column per contestant and baseline, without the expert."""
    report = report_on(runs)
    rows = [*report.groups[grouping], *report.baseline_groups.get(grouping, ())]
    contestants = [name for name in dict.fromkeys(map(contestant_of, rows)) if not name.startswith("expert")]

    def lines() -> Iterator[list[str]]:
        for group in dict.fromkeys(row.group for row in rows):
            cells = {contestant_of(row): number(row, "accuracy").split()[0] for row in rows if row.group == group}
            yield [title.format(group), *(cells.get(name, "–") for name in contestants)]

    return table(["", *contestants], lines())


def states() -> str:
    """Return the shares of exact states: final ones, all, and those that have a state before."""
    report = report_on(STEPS)
    measures = {"final state": "accuracy", "all states": "trajectory_exact", "states after the first": "later_exact"}

    def rows() -> Iterator[list[str]]:
        for row in [*report.rows, *(row for row in report.baselines if row.model == COPY)]:
            yield [contestant_of(row), str(row.tasks), *(number(row, measure) for measure in measures.values())]

    return table(["", "traces", *(f"{title} %" for title in measures)], rows())


@dataclass(frozen=True)
class Cut:
    """A published run that lost a variant: the comparisons of its verdict then, and p of a pair after Holm.

    The figures of then are those of docs/results.md in the parent of commit 90a882f8.
    """

    run: str
    pair: tuple[str, str]
    family: int
    p_holm: float


CUTS = (
    Cut("comparison-qwen-1.5b", ("tools", "no_tools"), 15, 0.492),
    Cut("graphwalks-qwen-1.5b", ("tools", "no_tools"), 6, 0.375),
    Cut("mazes-qwen-1.5b", ("tools", "no_tools"), 6, 1.0),
)


def cuts() -> str:
    """Return a table of the runs that lost a variant: the family of Holm's adjustment and p, then and now."""

    def rows() -> Iterator[list[str]]:
        for cut in CUTS:
            pairs = report_on((cut.run,)).comparisons
            (now,) = (one for one in pairs if {str(one.first.setting), str(one.second.setting)} == {*cut.pair})
            p_now = p_text(now.measures["accuracy"].p_holm)
            yield [f"`{cut.run}`", " − ".join(cut.pair), str(cut.family), p_text(cut.p_holm), str(len(pairs)), p_now]

    return table(["", "", "comparisons then", "p then", "comparisons now", "p now"], rows())


def every_run() -> str:
    """Return a table of all that is in results/: a row for each contestant of each run, with its origin."""

    def rows() -> Iterator[list[str]]:
        for path in sorted((ROOT / "results").glob("*.zip")):
            manifest = folder_of(path.stem).read_manifest()
            for row in report_on((path.stem,)).rows:
                played = [manifest["created"][:10], commit_of(manifest)]
                yield [f"`{path.stem}`", contestant_of(row), str(row.count("scored")), number(row, "accuracy"), *played]

    return table(["run", "contestant", "answers", "right %", "played", "commit"], rows())


def commit_of(manifest: Mapping[str, Any]) -> str:
    """Return the commit that a run names, in short; "+" marks changes that were not committed."""
    if not manifest["commit"]:
        return "not recorded"
    commit, dirty, _ = manifest["commit"].partition("-dirty")
    return commit[:8] + ("+" if dirty else "")


def picture() -> Plot:
    """Return the accuracy of the taught contestants by size of the graph, with that of the baselines."""
    plot = against_size(report_on(TAUGHT), "nodes of the graph", (CHANCE, CONSTANT))
    names = pl.col("contestant").str.replace(".*/", "").str.replace(" · ", " ", literal=True)
    return replace(plot, name="results-sizes", points=plot.points.with_columns(names))


if __name__ == "__main__":
    plot = picture()
    (ROOT / "docs" / f"{plot.name}.svg").write_text(page_svg(plot), encoding="utf-8")
