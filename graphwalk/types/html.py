"""HTML of objects in notebooks."""

from collections.abc import Iterable

from graphwalk.sanitise import escape_markup


def html_table(title: str, headers: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table; all texts are escaped."""

    def line(cells: Iterable[object], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape_markup(str(cell))}</{tag}>' for cell in cells)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><caption>{escape_markup(title)}</caption>{line(headers, 'th')}{body}</table>"
