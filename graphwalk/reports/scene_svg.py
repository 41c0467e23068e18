"""The evidence of a scene as an SVG picture. Text of models and graphs is sanitised."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import hypot

from graphwalk.errors import counted
from graphwalk.reports.scene import Scene, SceneLink, SceneNode
from graphwalk.sanitise import escape_markup, one_line

Point = tuple[float, float]
"""x and y in pixels, y downwards."""

_APART_X, _APART_Y = 140.0, 112.0
"""Space for a node with its name, in pixels."""
_ROUNDS = 300


def _layout(keys: Sequence[int], pairs: Sequence[tuple[int, int]]) -> dict[int, Point]:
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


def scene_svg(scene: Scene, title: str) -> str:
    """Return the nodes of question, answer and the paths between them; without any only the title."""
    nodes, links, more = scene.evidence()
    positions = _layout(list(nodes), [(link.source, link.target) for link in links])
    min_x = min((x for x, _ in positions.values()), default=0.0) - _MARGIN_X
    min_y = min((y for _, y in positions.values()), default=0.0) - _MARGIN_Y
    at = {place: (x - min_x, y - min_y + _TITLE) for place, (x, y) in positions.items()}
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
    if more:
        more_nodes = counted(more, "more node")
        lines.append(f'<text class="about" x="12" y="{height - 10:.0f}">and {more_nodes}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _nodes(nodes: Mapping[int, SceneNode], at: Mapping[int, Point]) -> Iterator[str]:
    kinds = dict.fromkeys(node.kind for node in nodes.values())
    colours = {kind: _COLOURS[number % len(_COLOURS)] for number, kind in enumerate(kinds)}
    middle = sum(y for _, y in at.values()) / max(1, len(at))
    for place, node in nodes.items():
        x, y = at[place]
        about = escape_markup(one_line(f"{node.kind} {dict(node.about)}"))
        circle = f'<circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{colours[node.kind]}"/>'
        yield f"<g><title>{about}</title>{circle}"
        first = y - _RADIUS - 18 if y < middle - _RADIUS else y + _RADIUS + 14  # on the outer side, away from arrows
        yield f'<text x="{x:.1f}" y="{first:.1f}">{_text(node.name)}</text>'
        yield f'<text class="type" x="{x:.1f}" y="{first + 13:.1f}">{_text(node.kind)}</text></g>'


def _links(links: Sequence[SceneLink], at: Mapping[int, Point]) -> Iterator[str]:
    """Yield the arrows; those between the same nodes are bent apart."""
    between = Counter(frozenset((link.source, link.target)) for link in links)
    drawn: Counter[frozenset[int]] = Counter()
    for link in links:
        pair = frozenset((link.source, link.target))
        number, many = drawn[pair], between[pair]
        drawn[pair] += 1
        bend = (number - (many - 1) / 2) * (40 if link.source < link.target else -40)
        start, end = at[link.source], at[link.target]
        path, x, y = _loop(start, number) if len(pair) == 1 else _arrow(start, end, bend)
        yield f'<path class="link" d="{path}" marker-end="url(#head)"/>'
        yield f'<text class="type" x="{x:.1f}" y="{y:.1f}">{_text(link.name)}</text>'


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
