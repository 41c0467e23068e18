"""Tables that a command writes into a page, with a caption that names command, commit and date."""

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def caption(command: str) -> str:
    """Return "Made by `COMMAND` at commit 1a2b3c4d on 2026-11-25."; a changed checkout is marked by a plus sign."""
    git = ["git", "-C", str(DOCS), "describe", "--always", "--abbrev=8", "--exclude=*", "--dirty=+"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    return f"Made by `{command}` at commit {commit} on {datetime.now(UTC):%Y-%m-%d}."


def write_between_markers(page: Path, name: str, text: str) -> None:
    """Replace the text between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
