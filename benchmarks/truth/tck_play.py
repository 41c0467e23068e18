"""One scenario on one engine: passed, failed with what came instead, or not applicable and why."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.truth.tck_engines import Engine, RefusedError, Table
from benchmarks.truth.tck_scenarios import Scenario, Step, graph_script
from benchmarks.truth.tck_values import plain, read_value

Verdict = Literal["passed", "failed", "not applicable"]
_GRAPH = re.compile(r"the (\S+) graph")
_TIMES = re.compile(r"\b(date|time|localtime|localdatetime|datetime|duration)\s*\(")
_LONGEST = 160


@dataclass(frozen=True)
class Outcome:
    scenario: Scenario
    verdict: Verdict
    detail: str = ""


class _FailedError(Exception):
    """The engine's result differs from the scenario's."""


class _OutOfReachError(Exception):
    """The scenario cannot be asked of this engine."""


def play(scenario: Scenario, engine: Engine, jar: Path) -> Outcome:
    """Play a scenario on an empty graph. An error is expected leniently: at any time, of any class."""
    if any(_TIMES.search(step.query or "") for step in scenario.steps):
        return Outcome(scenario, "not applicable", "needs dates or times, which no graph of ours holds")
    try:
        play = _Play(engine, jar)
        for step in scenario.steps:
            play.take(step)
    except _FailedError as error:
        return Outcome(scenario, "failed", " ".join(str(error).split())[:_LONGEST])
    except _OutOfReachError as error:
        return Outcome(scenario, "not applicable", str(error))
    return Outcome(scenario, "passed")


class _Play:
    def __init__(self, engine: Engine, jar: Path) -> None:
        self._engine, self._jar = engine, jar
        self._parameters: dict[str, Any] = {}
        self._table: Table | None = None
        self._refusal = ""
        self._before: dict[str, int] = {}
        engine.clear()

    def take(self, step: Step) -> None:
        text = step.text.rstrip(":").strip()
        if text.startswith("there exists a procedure"):
            raise _OutOfReachError("needs a procedure of the TCK's own")
        if named := _GRAPH.fullmatch(text):
            self._make(graph_script(self._jar, named[1]))
        elif text == "having executed":
            self._make(step.query or "")
        elif text == "parameters are":
            self._parameters = {name: read_value(self._engine.adapted(cell)) for name, cell in step.table}
        elif text in ("executing query", "executing control query"):
            self._ask(step.query or "")
        elif text.startswith("the result should be"):
            self._compare(text, step.table)
        elif " should be raised" in text:
            if self._table is not None:
                raise _FailedError(f"no error, but {len(self._table[1])} rows")
        elif "side effects" in text:
            self._compare_effects(step.table)
        elif text not in ("an empty graph", "any graph"):
            raise _OutOfReachError(f"unknown step: {text}")

    def _make(self, query: str) -> None:
        try:
            self._engine.run(self._engine.adapted(query), {})
        except RefusedError as error:
            raise _OutOfReachError("its graph cannot be made") from error

    def _ask(self, query: str) -> None:
        self._before = self._engine.counts()
        try:
            self._table, self._refusal = self._engine.ask(query, self._parameters), ""
        except RefusedError as error:
            self._table, self._refusal = None, str(error)

    def _compare(self, text: str, table: tuple[tuple[str, ...], ...]) -> None:
        if self._table is None:
            raise _FailedError(f"refused: {self._refusal}")
        ordered = "ignoring element order" not in text
        columns, rows = self._table
        header = [self._engine.adapted(name) for name in table[0]] if table else []
        wanted = [[read_value(self._engine.adapted(cell)) for cell in row] for row in table[1:]]
        if table and len(header) != len(columns):
            raise _FailedError(f"columns {columns} instead of {header}")
        # Columns without an alias are named after their text, which engines may space as they like.
        order = [columns.index(name) for name in header] if set(header) == set(columns) else range(len(header))
        actual = [plain([row[place] for place in order], ordered=ordered) for row in rows]
        right = [plain(row, ordered=ordered) for row in wanted]
        same = actual == right if "in order" in text else Counter(actual) == Counter(right)
        if not same:
            shown = [[row[place] for place in order] for row in rows]
            raise _FailedError(f"{len(rows)} rows {shown} instead of {wanted}")

    def _compare_effects(self, table: tuple[tuple[str, ...], ...]) -> None:
        """Nodes and relationships that came or went, net; none named: none."""
        if self._table is None:
            return
        wanted = Counter[str]()
        for what, number in table:
            wanted[what[1:]] += int(number) if what[0] == "+" else -int(number)
        after = self._engine.counts()
        for name, before in self._before.items():
            if after[name] - before != wanted[name]:
                raise _FailedError(f"{name}: {before} before, {after[name]} after")
