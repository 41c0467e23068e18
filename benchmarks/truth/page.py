"""The part of docs/peers.md that is made by its command."""

from pathlib import Path

from graphwalk.files import write_whole

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
BEGIN, END = "<!-- truth: begin -->", "<!-- truth: end -->"


def write_page(text: str, page: Path = PAGE) -> None:
    """Replace the text between the marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    write_whole(page, [before, BEGIN, "\n\n", text.strip(), "\n\n", END, after])
