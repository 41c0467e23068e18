"""Random spanning trees of a square lattice: mazes without loops, each kind with a look of its own.

"depth_first" has long winding corridors, "kruskal" and "prim" many short dead ends, and with "wilson" every spanning
tree is equally likely.
"""

from collections.abc import Callable, Iterable
from random import Random

Place = tuple[int, int]
"""Row and column in the lattice."""
Edges = Iterable[tuple[Place, Place]]

_SIDES = ((-1, 0), (0, -1), (0, 1), (1, 0))


def places_beside(place: Place, side: int) -> list[Place]:
    """The places that share an edge with this one."""
    row, column = place
    return [(row + r, column + c) for r, c in _SIDES if 0 <= row + r < side and 0 <= column + c < side]


def depth_first_tree(side: int, random: Random) -> Edges:
    """A depth-first search that takes the neighbours of each place in random order."""
    import networkx as nx

    def shuffled(places: Iterable[Place]) -> list[Place]:
        listed = list(places)
        random.shuffle(listed)
        return listed

    start = (random.randrange(side), random.randrange(side))
    edges: Edges = nx.dfs_edges(nx.grid_2d_graph(side, side), start, sort_neighbors=shuffled)
    return edges


def kruskal_tree(side: int, random: Random) -> Edges:
    """The minimum spanning tree for random weights."""
    import networkx as nx

    lattice = nx.grid_2d_graph(side, side)
    for _, _, attributes in lattice.edges(data=True):
        attributes["weight"] = random.random()
    edges: Edges = nx.minimum_spanning_edges(lattice, algorithm="kruskal", data=False)
    return edges


def prim_tree(side: int, random: Random) -> Edges:
    """The tree grows by a random one of all edges that lead out of it.

    Prim's algorithm on random weights, which networkx has, would draw the same trees as Kruskal's.
    """
    start = (random.randrange(side), random.randrange(side))
    inside, border = {start}, [(start, place) for place in places_beside(start, side)]
    while border:
        number = random.randrange(len(border))
        border[number], border[-1] = border[-1], border[number]
        source, target = border.pop()
        if target not in inside:
            inside.add(target)
            border += [(target, place) for place in places_beside(target, side)]
            yield source, target


def wilson_tree(side: int, random: Random) -> Edges:
    """Random walks from every place not yet in the tree until they meet it, their loops cut out (Wilson 1996).

    networkx draws uniform trees by determinants, which takes hours for a large maze.
    """
    places = [(row, column) for row in range(side) for column in range(side)]
    random.shuffle(places)
    inside = {places.pop()}
    for first in places:
        left_by: dict[Place, Place] = {}
        place = first
        while place not in inside:
            left_by[place] = place = random.choice(places_beside(place, side))
        place = first
        while place not in inside:
            inside.add(place)
            yield place, left_by[place]
            place = left_by[place]


TREES: dict[str, Callable[[int, Random], Edges]] = {
    "depth_first": depth_first_tree,
    "kruskal": kruskal_tree,
    "prim": prim_tree,
    "wilson": wilson_tree,
}
"""(side of the lattice, random) → the edges of a tree."""
