"""Texts of dates and times, canonical as Neo4j's `toString` has them (tests/stores/neo4j/test_existing_read_whole.py asks it)."""

import pytest

from graphwalk.graphs.values import TemporalKind, read_temporal


@pytest.mark.parametrize(
    ("kind", "text", "canonical"),
    [
        ("date", "2001-04-25", "2001-04-25"),
        ("time", "12:30:01.500+0200", "12:30:01.5+02:00"),
        ("time", "12:30z", "12:30:00Z"),
        ("datetime", "1890-10-28T02:30+00:09:21", "1890-10-28T02:30:00+00:09:21"),
        ("datetime", "2001-04-25 12:30+02:00[Europe/Berlin]", "2001-04-25T12:30:00+02:00[Europe/Berlin]"),
        ("local datetime", "2001-04-25T12:30:00.000000001", "2001-04-25T12:30:00.000000001"),
        ("duration", "P14M", "P1Y2M"),
        ("duration", "PT3661.25S", "PT1H1M1.25S"),
        ("duration", "-P1YT5S", "P-1YT-5S"),
        ("duration", "PT1M-0.5S", "PT59.5S"),
    ],
)
def test_canonical_texts(kind: TemporalKind, text: str, canonical: str) -> None:
    assert read_temporal(text, kind).text == canonical
    assert read_temporal(canonical, kind).text == canonical


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("date", "2001-02-29"),
        ("date", "1" * 10_000),
        ("time", "25:00Z"),
        ("time", "12:30"),
        ("datetime", "2001-04-25T12:30"),
        ("datetime", "2001-04-25T12:30+25:00"),
        ("time", "12:30Z[UTC]"),
        ("duration", "P999999999999999999Y"),
    ],
)
def test_other_texts_are_refused(kind: TemporalKind, text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a|does not fit"):
        read_temporal(text, kind)
