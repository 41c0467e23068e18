"""Every encoding gives back the rows it was given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.tools.encodings import ENCODINGS, decode_notes, encode_result, next_pages, read_rows

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
VALUES = SCALARS | st.dictionaries(st.text(), SCALARS, max_size=4) | st.lists(SCALARS, max_size=3)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, object]]:
    fields = draw(st.lists(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), min_size=1, max_size=4, unique=True))
    return draw(st.lists(st.fixed_dictionaries(dict.fromkeys(fields, VALUES)), max_size=6))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(rows=tables(), notes=st.lists(st.text(min_size=1), max_size=2))
def test_round_trip(encoding: str, rows: list[dict[str, object]], notes: list[str]) -> None:
    text = encode_result(rows, notes, encoding)
    decoded = read_rows(text)
    assert decoded == rows, "an encoding before it reads the text as other rows"
    for row, decoded_row in zip(rows, decoded, strict=True):
        for name, value in row.items():
            assert type(decoded_row[name]) is type(value)  # 1 == 1.0 == True
    assert len(decode_notes(text)) == len(notes)


@pytest.mark.parametrize("text", ["There is no tool x.", "No, nothing.", '{"a": 1}', "[1, 2]", "3", '[["a"], 3]'])
def test_texts_without_rows(text: str) -> None:
    assert read_rows(text) is None


def test_only_notes_name_the_next_page() -> None:
    rows = [{"a": 'repeat with "page": 9'}]
    assert not next_pages(encode_result(rows))
    assert next_pages(encode_result(rows, ['for more, "page": 2'])) == range(2, 3)


@pytest.mark.parametrize(
    ("note", "pages"),
    [
        ('page 1 of 4, rows 1 to 5 of 20 in all. For the next page repeat the call with "page": 2.', range(2, 3)),
        ('page 2, rows 11 to 20 of 100 in all. For the next page repeat the call with "page": 3.', range(3, 9)),
        ('page 9, rows 81 to 90 of more than 91. For the next page repeat the call with "page": 10.', range(10, 11)),
        ("page 4 of 4, rows 16 to 20 of 20 in all.", range(0)),
    ],
)
def test_pages_that_surely_exist_are_requested_together(note: str, pages: range) -> None:
    assert next_pages(encode_result([{"a": 1}], [note])) == pages
