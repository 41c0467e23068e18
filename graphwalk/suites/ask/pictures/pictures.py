"""Questions that were asked, as `graphwalk view` shows them: steps, answer and evidence; the evidence as a drawing."""

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

_WIDTH = 120


class AskPictures:
    formats = (".svg", ".txt")

    def drawings(self, records: Sequence[ResultRecord]) -> "Iterator[Group]":
        """One after the other, in the order in which they were asked."""
        from rich.console import Group
        from rich.text import Text

        for record in sorted(records, key=lambda record: (record["task"]["number"], record["model"])):
            trajectory = from_dict(Trajectory, record["trajectory"])
            steps = enumerate(steps_of(trajectory), 1)
            evidence = evidence_in(record)
            yield Group(
                Text(f"{visible(record['model'])}: {visible(record['task']['question'])}", style="bold"),
                *(step_shown(number, step) for number, step in steps),
                Text(_answer(record)),
                *((evidence_table(evidence),) if evidence.nodes else ()),
                Text(""),
            )

    def page(self, records: Sequence[ResultRecord], form: str, title: str) -> str:
        """All of it as text; as a drawing the evidence of the first question."""
        from rich.console import Console

        if form == ".svg":
            first = min(records, key=lambda record: record["task"]["number"])
            return evidence_svg(evidence_in(first), first["task"]["question"])
        stream = io.StringIO()
        console = Console(file=stream, width=_WIDTH, color_system=None, highlight=False)
        for drawing in self.drawings(records):
            console.print(drawing, markup=False)
        return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


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
