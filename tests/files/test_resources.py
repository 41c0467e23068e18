"""Data files are found, and values are quoted for messages."""

from graphwalk.files.resources import data_path, quote


def test_data_files_are_found() -> None:
    assert (data_path("tools") / "think.yaml").is_file()


def test_quote() -> None:
    assert quote('é\n\ud800"') == '"é\\n\\ud800\\""'
    assert quote(1.5) == "1.5"
    assert len(quote("x" * 10**7)) < 150
    assert quote("x" * 10**7).endswith('"…')
