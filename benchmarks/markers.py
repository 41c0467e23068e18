"""Tables that a command writes into a page."""

from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def text_between_markers(page: Path, name: str) -> str:
    """Return the text between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
    _, rest = page.read_text(encoding="utf-8").split(f"<!-- {name}: begin -->\n")
    return rest.split(f"\n<!-- {name}: end -->")[0]


def write_between_markers(page: Path, name: str, text: str) -> None:
    """Replace the text between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
