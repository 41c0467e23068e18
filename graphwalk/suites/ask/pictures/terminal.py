"""Steps and evidence for a terminal. What models and graphs say is shown as it is, and obeyed by nobody."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from graphwalk.console import counted
from graphwalk.suites.ask.evidence import AnswerEvidence
from graphwalk.suites.ask.steps import Step
from graphwalk.toolbox.encodings import decode_notes, read_rows
from graphwalk.toolbox.seen import KEY
from graphwalk.types.inert import visible
from graphwalk.types.values import Row

if TYPE_CHECKING:
    from rich.table import Table

_ROWS = 3
"""Rows of a result that are shown."""
_VALUES = 8
"""Single values that are shown."""
_NUMBER = 3
"""Columns of a number; a number that needs more takes them."""


def step_shown(number: int, step: Step) -> "Table":
    """The thought beside a call, the call, how many rows it found and the first few."""
    from rich.table import Table
    from rich.text import Text

    shown = Table.grid(padding=(0, 1, 0, 0))
    shown.add_column(justify="right", min_width=_NUMBER, no_wrap=True, style="dim")
    shown.add_column(overflow="fold")
    noted = step.thought is not None and step.thought == step.result
    if step.thought and not noted:
        shown.add_row("", Text(f"“{visible(step.thought)}”", style="italic"))
    if noted:
        shown.add_row(str(number), Text.assemble((visible(step.call), "bold"), f"  “{visible(step.result)}”"))
        return shown
    shown.add_row(str(number), Text.assemble((visible(step.call), "bold"), f"  {_arguments(step.arguments)}"))
    if step.error is not None:
        shown.add_row("", Text(f"{visible(step.error)}: {visible(step.result)}", style="red"))
        return shown
    for line in _found(step):
        shown.add_row("", Text(line, style="dim", no_wrap=True, overflow="ellipsis"))
    return shown


def _found(step: Step) -> Iterator[str]:
    """Nodes and relationships stand on lines of their own, single values beside each other."""
    rows = read_rows(step.result) or []
    found = step.rows or 0
    said = counted(found, "row")
    single = [_plain(value) for row in rows for value in row.values()] if rows and len(rows[0]) == 1 else []
    if single:
        more = ", …" if len(single) > _VALUES else ""
        yield visible(f"{said}: {', '.join(single[:_VALUES])}{more}")
        return
    yield said
    if not rows:
        yield from map(visible, decode_notes(step.result))
    yield from (f"  {visible(row_text(row))}" for row in rows[:_ROWS])
    if len(rows) > _ROWS:
        yield "  …"


def row_text(row: Row) -> str:
    """A row of a result on one line: a node, a relationship with the node at its other end, or the values alone."""
    if "neighbor_properties" in row:
        type_ = row.get("type")
        arrow = {"outgoing": f"–{type_}→", "incoming": f"←{type_}–"}.get(str(row.get("direction")), f"–{type_}–")
        labels = row.get("neighbor_labels", row.get("neighbor_label"))
        return f"{row.get('center_key')} {arrow} {_node(labels, row['neighbor_properties'])}"
    if "properties" in row:
        return _node(row.get("labels", row.get("label")), row["properties"])
    return _pairs(row) if len(row) > 1 else ", ".join(map(_plain, row.values()))


def evidence_table(evidence: AnswerEvidence) -> "Table":
    """Nodes, then relationships, one a line."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("evidence", overflow="fold", ratio=2)
    table.add_column("what is known of it", overflow="fold", ratio=3)
    name_of = {node.key: node.name for node in evidence.nodes}
    for node in evidence.nodes:
        labels = "".join(f":{label}" for label in node.labels)
        table.add_row(Text(visible(f"({node.key}{labels})")), Text(visible(_pairs(node.properties))))
    for link in evidence.relationships:
        said = visible(f"({link.source})–{link.type}→({link.target})")
        names = f"{name_of[link.source]} {link.type} {name_of[link.target]}"
        told = _pairs(link.properties) or (names if names != f"{link.source} {link.type} {link.target}" else "")
        table.add_row(Text(said), Text(visible(told)))
    if evidence.more:
        table.add_row(Text(f"… and {counted(evidence.more, 'more node')}", style="dim"), Text(""))
    return table


def _arguments(arguments: Any) -> str:
    return visible(_pairs(arguments, "=", " ") if isinstance(arguments, dict) else arguments)


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
