"""Where nodes go: networkx's force-directed layout, stretched until no two names stand on each other."""

from collections.abc import Sequence

Place = tuple[float, float]
"""x and y in pixels, y downwards."""

_APART_X, _APART_Y = 140.0, 112.0
"""Room that a node with its name takes."""
_ROUNDS = 300
_SEED = 7


def places_of(keys: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, Place]:
    """The same places for the same graph, on every machine."""
    import networkx

    if len(keys) < 2:
        return dict.fromkeys(keys, (0.0, 0.0))
    graph = networkx.Graph()
    graph.add_nodes_from(keys)
    graph.add_edges_from((source, target) for source, target in pairs if source != target)
    side = len(keys) ** 0.5
    found = networkx.spring_layout(graph, k=2.2 / side, iterations=_ROUNDS, seed=_SEED)
    wide = {key: (float(x) * _APART_X * side, float(y) * _APART_Y * side) for key, (x, y) in found.items()}
    return _pushed_apart(wide)


def _pushed_apart(places: dict[str, Place]) -> dict[str, Place]:
    """Nodes that are too close step back from each other, a little in every round."""
    keys = list(places)
    at = {key: list(place) for key, place in places.items()}
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
