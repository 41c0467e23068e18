"""The picture of the README is what the command beside it draws."""

from pathlib import Path

from tests.cli.test_commands import graphwalk
from tests.extending.packages import REPOSITORY


def test_it_is_drawn_by_the_product(tmp_path: Path) -> None:
    words = ("ask", "What did Aksel Brant command?", "--graph", "example", "-m", "scripted/look", "--no-log", "--json")
    done = graphwalk(*words, "--svg", "walk.svg", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "walk.svg").read_text()
    assert drawn == (REPOSITORY / "docs" / "walk.svg").read_text()
    assert "prefers-color-scheme: dark" in drawn
    assert "](docs/walk.svg)" in (REPOSITORY / "README.md").read_text()
