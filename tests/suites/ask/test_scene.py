"""The drawing and the terminal: legible, the same each time, and not to be talked into anything."""

import io
import xml.etree.ElementTree as ElementTree

import pytest

from graphwalk.suites.ask.evidence import AnswerEvidence, EvidenceStep
from graphwalk.suites.ask.scene import evidence_svg, step_shown
from graphwalk.tools.observed import ObservedNode, ObservedRelationship

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\u202e"


def evidence(size: int, name: str = "node") -> AnswerEvidence:
    nodes = tuple(ObservedNode(f"k{i}", ("A", "B") if i % 2 else (), {"name": f"{name} {i}"}) for i in range(size))
    links = [ObservedRelationship("KNOWS", f"k{i}", f"k{(i * 7) % size}", {}) for i in range(size)]
    return AnswerEvidence(nodes, tuple(links), 3)


@pytest.mark.parametrize("size", [0, 1, 2, 12, 40])
def test_nodes_do_not_overlap(size: int) -> None:
    drawn = evidence_svg(evidence(size) if size else AnswerEvidence(), "who?")
    assert drawn == evidence_svg(evidence(size) if size else AnswerEvidence(), "who?")
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
    drawn = evidence_svg(evidence(3, HOSTILE), HOSTILE)
    root = ElementTree.fromstring(drawn)
    assert not list(root.iter(f"{SVG}script"))
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    assert any((text.text or "").startswith("<script>") for text in root.iter(f"{SVG}text"))


def test_terminal_control_characters_are_escaped() -> None:
    from rich.console import Console

    console = Console(width=80, record=True, file=io.StringIO())
    for result, error, thought in ((f'[{{"values": "{HOSTILE[:8]}"}}]', None, HOSTILE), (HOSTILE, "bad", None)):
        console.print(step_shown(1, EvidenceStep(HOSTILE, {HOSTILE: HOSTILE}, 1, error, 0.0, result, thought)))
    text = console.export_text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<script>" in text
