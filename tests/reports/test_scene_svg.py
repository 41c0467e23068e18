"""The picture of the evidence: legible, the same each time, with all names as text."""

import xml.etree.ElementTree as ElementTree

import pytest

from graphwalk.reports.scene import Scene, SceneLink, SceneNode, StateTable
from graphwalk.reports.scene_svg import scene_svg

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\u202e"


def scene(size: int, name: str = "node") -> Scene:
    nodes = [SceneNode(f"{name} {i}", "A:B" if i % 2 else "", {"key": f"k{i}"}, fate="right") for i in range(size)]
    links = [SceneLink(i, (i * 7) % size, "KNOWS") for i in range(size)]
    return Scene((), (), StateTable((), ()), nodes=(SceneNode("unused"), *nodes), links=tuple(links))


@pytest.mark.parametrize("size", [0, 1, 2, 12, 40])
def test_nodes_do_not_overlap(size: int) -> None:
    drawn = scene_svg(scene(size), "who?")
    assert drawn == scene_svg(scene(size), "who?")
    root = ElementTree.fromstring(drawn)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    places = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{SVG}circle")]
    assert len(places) == size
    assert all(0 < x < width and 0 < y < height for x, y in places)
    near = [
        (a, b)
        for i, a in enumerate(places)
        for b in places[i + 1 :]
        if abs(a[0] - b[0]) < 100 and abs(a[1] - b[1]) < 60
    ]
    assert not near


def test_names_stay_text() -> None:
    drawn = scene_svg(scene(3, HOSTILE), HOSTILE)
    root = ElementTree.fromstring(drawn)
    assert not list(root.iter(f"{SVG}script"))
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    assert any((text.text or "").startswith("<script>") for text in root.iter(f"{SVG}text"))
