"""CSV as Neo4j's importer reads it: an empty field is missing, a quoted empty one is empty text.

(Python's `csv` does not tell them apart before 3.12.)
"""

import re
from collections.abc import Iterator, Sequence

from graphwalk.graphs.files.checked import brief

Record = list[str | None]
"""The fields of a line; None for one that is empty and not quoted."""


def csv_records(text: str, delimiter: str = ",", quote: str = '"') -> Iterator[tuple[int, Record]]:
    """Every line with its number, counted from 1; empty ones are left out. ValueError where a quote is not closed."""
    field = _field_pattern(delimiter, quote)
    position, line, starts = 0, 1, 1
    record: Record = []
    while position < len(text):
        match = field.match(text, position)
        if match is None:
            raise ValueError(
                f"line {line}: cannot read {brief(text[position : position + 40])}; is a quote not closed?"
            )
        quoted, plain, end = match.groups()
        record.append(plain or None if quoted is None else quoted.replace(quote * 2, quote))
        line += text.count("\n", position, match.end())
        position = match.end()
        if end != delimiter:
            if record != [None]:
                yield starts, record
            record, starts = [], line
    if record:
        yield starts, [*record, None]


def csv_line(fields: Sequence[str | None]) -> str:
    """One line with commas; None becomes nothing, all other text is quoted where it has to be."""
    return ",".join("" if field is None else csv_text(field) for field in fields)


def csv_text(field: str) -> str:
    """A field, quoted where it has to be."""
    return field if _PLAIN.fullmatch(field) else '"' + field.replace('"', '""') + '"'


_PLAIN = re.compile(r"[^\s,\"'](?:[^\r\n,\"']*[^\s,\"'])?")


def _field_pattern(delimiter: str, quote: str) -> re.Pattern[str]:
    q, d = re.escape(quote), re.escape(delimiter)
    return re.compile(rf"(?:{q}([^{q}]*(?:{q}{q}[^{q}]*)*){q}|([^{d}{q}\r\n][^{d}\r\n]*)?)({d}|\r\n|\n|\r|\Z)")
