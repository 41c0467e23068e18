"""Questions that were asked as text, and what their answers rest on, as a table or drawing."""

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphwalk.console import printable
from graphwalk.report.declared import ResultRecord
from graphwalk.suites.ask.evidence import AnswerEvidence, evidence_of
from graphwalk.suites.ask.pictures.svg import evidence_svg
from graphwalk.suites.ask.pictures.terminal import evidence_table, step_shown
from graphwalk.suites.ask.steps import steps_of
from graphwalk.toolbox.seen import seen_in
from graphwalk.types.episode import Trajectory
from graphwalk.types.inert import visible
from graphwalk.types.wire import from_dict

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

_WIDTH = 120


class AskPictures:
    formats = (".svg", ".txt")

    def drawings(self, records: Sequence[ResultRecord]) -> "Iterator[Table]":
        """What each answer rests on, in the order in which they were asked."""
        for record in _in_order(records):
            evidence = evidence_in(record)
            if evidence.nodes:
                yield evidence_table(evidence)

    def page(self, records: Sequence[ResultRecord], form: str, title: str) -> str:
        """All of it as text; as a drawing the evidence of the first question."""
        from rich.console import Console

        if form == ".svg":
            first = min(records, key=lambda record: record["task"]["number"])
            return evidence_svg(evidence_in(first), first["task"]["question"])
        stream = io.StringIO()
        console = Console(file=stream, width=_WIDTH, color_system=None, highlight=False)
        for record in _in_order(records):
            console.print(_told(record), markup=False)
        return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _in_order(records: Sequence[ResultRecord]) -> list[ResultRecord]:
    return sorted(records, key=lambda record: (record["task"]["number"], record["model"]))


def _told(record: ResultRecord) -> "Group":
    """Question, steps, answer and evidence."""
    from rich.console import Group
    from rich.text import Text

    steps = enumerate(steps_of(from_dict(Trajectory, record["trajectory"])), 1)
    evidence = evidence_in(record)
    return Group(
        Text(f"{visible(record['model'])}: {visible(record['task']['question'])}", style="bold"),
        *(step_shown(number, step) for number, step in steps),
        Text(_answer(record)),
        *((evidence_table(evidence),) if evidence.nodes else ()),
        Text(""),
    )


def evidence_in(record: ResultRecord) -> AnswerEvidence:
    """What the answer of a logged episode rests on."""
    if not record["answer"]:
        return AnswerEvidence()
    trajectory = from_dict(Trajectory, record["trajectory"])
    return evidence_of(record["task"]["question"], record["answer"], seen_in(trajectory.results))


def _answer(record: ResultRecord) -> str:
    if record["answer"] is None:
        return f"no answer ({record['exit_status']}): {visible(record['trajectory'].get('error') or '')}"
    return printable(record["answer"])
