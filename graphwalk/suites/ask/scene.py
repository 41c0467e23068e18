"""Steps and evidence as text and SVG. Text of models and graphs is sanitised."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import hypot
from typing import TYPE_CHECKING, Any

from graphwalk.errors import counted
from graphwalk.reports.scene import Scene, StateTable
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.sanitise import escape_markup, one_line
from graphwalk.suites.ask.evidence import AnswerEvidence, EvidenceStep, evidence_of, named_in
from graphwalk.suites.walked import walked_scene
from graphwalk.tools.observed import KEY, ObservedNode, ObservedRelationship, observed_graph
from graphwalk.types.encodings import decode_notes, read_rows
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Row
from graphwalk.types.wire import from_dict

if TYPE_CHECKING:
    from rich.table import Table


_ROWS, _VALUES = 3, 8
"""Rows and single values of a result that are shown."""


def step_shown(number: int, step: EvidenceStep) -> "Table":
    """Return the thought next to a call, the call, its number of rows and the first rows."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", min_width=3, no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    is_note = step.thought is not None and step.thought == step.result
    if step.thought and not is_note:
        table.add_row("", Text(f"“{one_line(step.thought)}”", style="italic"))
    arguments = _pairs(step.arguments, "=", " ") if isinstance(step.arguments, dict) else step.arguments
    text = f"“{one_line(step.result)}”" if is_note else one_line(arguments)
    table.add_row(str(number), Text.assemble((one_line(step.call), "bold"), f"  {text}"))
    if step.error is not None:
        table.add_row("", Text(f"{one_line(step.error)}: {one_line(step.result)}", style="red"))
    elif not is_note:
        for line in _result_lines(step):
            table.add_row("", Text(line, style="dim", no_wrap=True, overflow="ellipsis"))
    return table


def _result_lines(step: EvidenceStep) -> Iterator[str]:
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
    if "match" in row:
        node = _node(row.get("labels"), {KEY: row.get(KEY), str(row.get("property")): row.get("value")})
        return f"{node} ({row['match']}; {counted(row.get('relationships') or 0, 'relationship')})"
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
    fields = properties if isinstance(properties, dict) else {}
    rest = {name: value for name, value in fields.items() if name != KEY}
    return " ".join(filter(None, [":".join(map(str, named)), str(fields.get(KEY, "")), _pairs(rest)]))


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


def ask_drawings(record: ResultRecord) -> "Iterator[Table]":
    """Yield the evidence of the answer, if there is any."""
    seen = observed_graph(from_dict(Trajectory, record["trajectory"]).results)
    evidence = evidence_of(record["task"]["question"], _answer(record), seen)
    if evidence.nodes:
        yield evidence_table(evidence)


def _answer(record: ResultRecord) -> str | None:
    return None if record["answer"] is None else _plain(record["answer"])


def ask_scene(record: ResultRecord) -> Scene:
    """Return the picture of an episode, with the evidence of the answer marked."""
    trajectory = from_dict(Trajectory, record["trajectory"])
    question, text = record["task"]["question"], _answer(record)
    seen = observed_graph(trajectory.results)
    question_keys = set(named_in(question, seen))
    evidence = [node.key for node in evidence_of(question, text, seen).nodes if node.key not in question_keys]
    answer = StateTable(("answer",), (("", text),) if text else ())
    scene = walked_scene(trajectory, question_keys, dict.fromkeys(evidence, "right"), answer)
    return replace(scene, legend={**scene.legend, "right": "evidence"})


Point = tuple[float, float]
"""x and y in pixels, y downwards."""

_APART_X, _APART_Y = 140.0, 112.0
"""Space for a node with its name, in pixels."""
_ROUNDS = 300


def _layout(keys: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Return node positions, which are the same on every machine."""
    import networkx

    if len(keys) < 2:
        return dict.fromkeys(keys, (0.0, 0.0))
    graph = networkx.Graph()
    graph.add_nodes_from(keys)
    graph.add_edges_from((source, target) for source, target in pairs if source != target)
    side = len(keys) ** 0.5
    positions = networkx.spring_layout(graph, k=2.2 / side, iterations=_ROUNDS, seed=7)
    at = {key: [float(x) * _APART_X * side, float(y) * _APART_Y * side] for key, (x, y) in positions.items()}
    # Push nodes that are too close apart, a little in every round.
    for _ in range(_ROUNDS):
        moved = False
        for i, one in enumerate(keys):
            for other in keys[i + 1 :]:
                dx, dy = at[other][0] - at[one][0], at[other][1] - at[one][1]
                x, y = _APART_X - abs(dx), _APART_Y - abs(dy)
                if x <= 0 or y <= 0:
                    continue
                moved = True
                axis, step = (0, x / 2) if x / _APART_X < y / _APART_Y else (1, y / 2)
                step = step if (dx, dy)[axis] >= 0 else -step
                at[one][axis] -= step / 2
                at[other][axis] += step / 2
        if not moved:
            break
    return {key: (x, y) for key, (x, y) in at.items()}


_RADIUS = 18
_MARGIN_X, _MARGIN_Y = 90, 60
_LONGEST = 24
_TITLE = 34
_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2", "#9c755f", "#edc948")
_STYLE = """\
svg { background: #fff; font: 12px sans-serif; }
text { fill: #222; text-anchor: middle; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
.link { stroke: #888; fill: none; } .head { fill: #888; } .type { fill: #666; font-size: 10px; }
.about { fill: #666; font-size: 11px; text-anchor: start; } .node { stroke: #fff; stroke-width: 1.5px; }
@media (prefers-color-scheme: dark) {
svg { background: #161b22; } text { fill: #e6edf3; stroke: #161b22; } .node { stroke: #161b22; }
.type, .about { fill: #9da7b3; } .link { stroke: #768390; } .head { fill: #768390; }
}"""


def evidence_svg(evidence: AnswerEvidence, title: str) -> str:
    """Return the drawing; without evidence it has only the title."""
    nodes, links = evidence.nodes, evidence.relationships
    pairs = [(link.source, link.target) for link in links]
    positions = _layout([node.key for node in nodes], pairs)
    min_x = min((x for x, _ in positions.values()), default=0.0) - _MARGIN_X
    min_y = min((y for _, y in positions.values()), default=0.0) - _MARGIN_Y
    at = {key: (x - min_x, y - min_y + _TITLE) for key, (x, y) in positions.items()}
    width = max(360.0, max((x for x, _ in at.values()), default=0.0) + _MARGIN_X)
    height = max((y for _, y in at.values()), default=0.0) + _MARGIN_Y
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{_text(title, 200)}</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="head" d="M0 0 8 4 0 8z"/></marker></defs>',
        *_links(links, at),
        *_nodes(nodes, at),
        f'<text class="about" x="12" y="20">{_text(title, int(width / 6.5))}</text>',
    ]
    if evidence.more:
        more = counted(evidence.more, "more node")
        lines.append(f'<text class="about" x="12" y="{height - 10:.0f}">and {more}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _nodes(nodes: Sequence[ObservedNode], at: dict[str, Point]) -> Iterator[str]:
    colours = {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(dict.fromkeys(n.label for n in nodes))}
    middle = sum(y for _, y in at.values()) / max(1, len(at))
    for node in nodes:
        x, y = at[node.key]
        labels = ":".join(node.labels)
        about = escape_markup(one_line(f"{node.key} {labels} {dict(node.properties)}"))
        circle = f'<circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{colours[node.label]}"/>'
        yield f"<g><title>{about}</title>{circle}"
        first = y - _RADIUS - 18 if y < middle - _RADIUS else y + _RADIUS + 14  # on the outer side, away from arrows
        yield f'<text x="{x:.1f}" y="{first:.1f}">{_text(node.name)}</text>'
        yield f'<text class="type" x="{x:.1f}" y="{first + 13:.1f}">{_text(labels)}</text></g>'


def _links(links: Sequence[ObservedRelationship], at: dict[str, Point]) -> Iterator[str]:
    """Yield the arrows; those between the same nodes are bent apart."""
    between = Counter(frozenset((link.source, link.target)) for link in links)
    drawn: Counter[frozenset[str]] = Counter()
    for link in links:
        pair = frozenset((link.source, link.target))
        number, many = drawn[pair], between[pair]
        drawn[pair] += 1
        bend = (number - (many - 1) / 2) * (40 if link.source < link.target else -40)
        start, end = at[link.source], at[link.target]
        path, x, y = _loop(start, number) if len(pair) == 1 else _arrow(start, end, bend)
        yield f'<path class="link" d="{path}" marker-end="url(#head)"/>'
        yield f'<text class="type" x="{x:.1f}" y="{y:.1f}">{_text(link.type)}</text>'


def _arrow(start: Point, end: Point, bend: float) -> tuple[str, float, float]:
    """Return the path from rim to rim, and the position of its type."""
    (x1, y1), (x2, y2) = start, end
    length = hypot(x2 - x1, y2 - y1) or 1.0
    along, across = ((x2 - x1) / length, (y2 - y1) / length), (-(y2 - y1) / length, (x2 - x1) / length)
    middle = (x1 + x2) / 2 + across[0] * bend, (y1 + y2) / 2 + across[1] * bend
    x1, y1 = x1 + along[0] * _RADIUS, y1 + along[1] * _RADIUS
    x2, y2 = x2 - along[0] * (_RADIUS + 2), y2 - along[1] * (_RADIUS + 2)
    path = f"M{x1:.1f} {y1:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {x2:.1f} {y2:.1f}"
    return path, (x1 + x2) / 4 + middle[0] / 2, (y1 + y2) / 4 + middle[1] / 2 - 3


def _loop(at: Point, number: int) -> tuple[str, float, float]:
    x, y = at
    top = y - 52 - 16 * number
    path = f"M{x - 10:.1f} {y - 15:.1f}C{x - 34:.1f} {top:.1f} {x + 34:.1f} {top:.1f} {x + 10:.1f} {y - 16:.1f}"
    return path, x, y - (y - top) * 0.8


def _text(text: str, longest: int = _LONGEST) -> str:
    shown = one_line(text)
    return escape_markup(shown if len(shown) <= longest else shown[: longest - 1] + "…")
