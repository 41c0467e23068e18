"""Steps and evidence in a terminal. Text of models and graphs is sanitised."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphwalk.console import counted
from graphwalk.encodings import decode_notes, read_rows
from graphwalk.reports.plots import Scene, StateTable
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.sanitise import one_line, printable
from graphwalk.suites.ask.evidence import AnswerEvidence, Step, evidence_of, named_in, steps_of
from graphwalk.suites.ask.svg import evidence_svg
from graphwalk.suites.walked import walked_scene
from graphwalk.tools.observed import KEY, observed_graph
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Row
from graphwalk.types.wire import from_dict

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table


_ROWS, _VALUES = 3, 8
"""Rows and single values of a result that are shown."""
_WIDTH = 120


def step_shown(number: int, step: Step) -> "Table":
    """Return the thought next to a call, the call, its number of rows and the first rows."""
    from rich.table import Table
    from rich.text import Text

    shown = Table.grid(padding=(0, 1, 0, 0))
    shown.add_column(justify="right", min_width=3, no_wrap=True, style="dim")
    shown.add_column(overflow="fold")
    noted = step.thought is not None and step.thought == step.result
    if step.thought and not noted:
        shown.add_row("", Text(f"“{one_line(step.thought)}”", style="italic"))
    if noted:
        shown.add_row(str(number), Text.assemble((one_line(step.call), "bold"), f"  “{one_line(step.result)}”"))
        return shown
    given = _pairs(step.arguments, "=", " ") if isinstance(step.arguments, dict) else step.arguments
    shown.add_row(str(number), Text.assemble((one_line(step.call), "bold"), f"  {one_line(given)}"))
    if step.error is not None:
        shown.add_row("", Text(f"{one_line(step.error)}: {one_line(step.result)}", style="red"))
        return shown
    for line in _found(step):
        shown.add_row("", Text(line, style="dim", no_wrap=True, overflow="ellipsis"))
    return shown


def _found(step: Step) -> Iterator[str]:
    """Yield a line per node or relationship; single values share one line."""
    rows = read_rows(step.result) or []
    number = counted(step.rows or 0, "row")
    single = [_plain(value) for row in rows for value in row.values()] if rows and len(rows[0]) == 1 else []
    if single:
        more = ", …" if len(single) > _VALUES else ""
        yield one_line(f"{number}: {', '.join(single[:_VALUES])}{more}")
        return
    yield number
    if not rows:
        yield from map(one_line, decode_notes(step.result))
    yield from (f"  {one_line(_row_text(row))}" for row in rows[:_ROWS])
    if len(rows) > _ROWS:
        yield "  …"


def _row_text(row: Row) -> str:
    """Return a row on one line: a node, a relationship with its neighbour, or the values."""
    if "neighbor_properties" in row:
        type_ = row.get("type")
        arrow = {"outgoing": f"–{type_}→", "incoming": f"←{type_}–"}.get(str(row.get("direction")), f"–{type_}–")
        labels = row.get("neighbor_labels", row.get("neighbor_label"))
        return f"{row.get('center_key')} {arrow} {_node(labels, row['neighbor_properties'])}"
    if "properties" in row:
        return _node(row.get("labels", row.get("label")), row["properties"])
    return _pairs(row) if len(row) > 1 else ", ".join(map(_plain, row.values()))


def evidence_table(evidence: AnswerEvidence) -> "Table":
    """Return a table of nodes, then relationships, one per line."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("evidence", overflow="fold", ratio=2)
    table.add_column("properties", overflow="fold", ratio=3)
    name_of = {node.key: node.name for node in evidence.nodes}
    for node in evidence.nodes:
        labels = "".join(f":{label}" for label in node.labels)
        table.add_row(Text(one_line(f"({node.key}{labels})")), Text(one_line(_pairs(node.properties))))
    for link in evidence.relationships:
        pattern = one_line(f"({link.source})–{link.type}→({link.target})")
        names = f"{name_of[link.source]} {link.type} {name_of[link.target]}"
        detail = _pairs(link.properties) or (names if names != f"{link.source} {link.type} {link.target}" else "")
        table.add_row(Text(pattern), Text(one_line(detail)))
    if evidence.more:
        table.add_row(Text(f"… and {counted(evidence.more, 'more node')}", style="dim"), Text(""))
    return table


def _node(labels: Any, properties: Any) -> str:
    named = [labels] if isinstance(labels, str) else labels if isinstance(labels, list) else []
    known = properties if isinstance(properties, dict) else {}
    rest = {name: value for name, value in known.items() if name != KEY}
    return " ".join(filter(None, [":".join(map(str, named)), str(known.get(KEY, "")), _pairs(rest)]))


def _pairs(values: Mapping[str, Any], sign: str = ": ", between: str = ", ") -> str:
    return between.join(f"{name}{sign}{_plain(value)}" for name, value in values.items())


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + _pairs(value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_plain, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return "–" if value is None else str(value)


class AskPictures:
    """Drawings of answers with their evidence."""

    formats = (".svg", ".txt")

    def drawings(self, records: Sequence[ResultRecord]) -> "Iterator[Table]":
        """Yield the evidence of each answer in the order of the questions."""
        for record in _in_order(records):
            evidence = evidence_in(record)
            if evidence.nodes:
                yield evidence_table(evidence)

    def page(self, records: Sequence[ResultRecord], form: str, title: str) -> str:
        """Return all episodes as text, or the evidence of the first question as SVG."""
        from rich.console import Console

        if form == ".svg":
            first = min(records, key=lambda record: record["task"]["number"])
            return evidence_svg(evidence_in(first), first["task"]["question"])
        stream = io.StringIO()
        console = Console(file=stream, width=_WIDTH, color_system=None, highlight=False)
        for record in _in_order(records):
            console.print(_episode(record), markup=False)
        return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _in_order(records: Sequence[ResultRecord]) -> list[ResultRecord]:
    return sorted(records, key=lambda record: (record["task"]["number"], record["model"]))


def _episode(record: ResultRecord) -> "Group":
    """Return question, steps, answer and evidence."""
    from rich.console import Group
    from rich.text import Text

    steps = enumerate(steps_of(from_dict(Trajectory, record["trajectory"])), 1)
    evidence = evidence_in(record)
    error = one_line(record["trajectory"].get("error") or "")
    missing = f"no answer ({record['exit_status']}): {error}"
    answer = missing if record["answer"] is None else printable(record["answer"])
    return Group(
        Text(f"{one_line(record['model'])}: {one_line(record['task']['question'])}", style="bold"),
        *(step_shown(number, step) for number, step in steps),
        Text(answer),
        *((evidence_table(evidence),) if evidence.nodes else ()),
        Text(""),
    )


def evidence_in(record: ResultRecord) -> AnswerEvidence:
    """Return the evidence of a logged answer."""
    if not record["answer"]:
        return AnswerEvidence()
    trajectory = from_dict(Trajectory, record["trajectory"])
    return evidence_of(record["task"]["question"], record["answer"], observed_graph(trajectory.results))


def ask_scene(record: ResultRecord) -> Scene:
    """Return the picture of an episode. There is no target, so the evidence is marked."""
    trajectory = from_dict(Trajectory, record["trajectory"])
    asked = set(named_in(record["task"]["question"], observed_graph(trajectory.results)))
    evidence = [node.key for node in evidence_in(record).nodes if node.key not in asked]
    answer = StateTable(("answer",), (("", record["answer"]),) if record["answer"] else ())
    scene = walked_scene(trajectory, asked, dict.fromkeys(evidence, "right"), answer)
    return replace(scene, legend={**scene.legend, "right": "evidence"})
