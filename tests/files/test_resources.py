"""Data files are found, and values are quoted for messages."""

from graphwalk.files.resources import quote


def test_quote() -> None:
    assert quote('é\n\ud800"') == '"é\\n\\ud800\\""'
    assert quote(1.5) == "1.5"
    assert len(quote("x" * 10**7)) < 150
    assert quote("x" * 10**7).endswith('"…')
