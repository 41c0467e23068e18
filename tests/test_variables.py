"""`.env` adds variables: read by its mark, or refused by name."""

from codecs import BOM_UTF16_BE
from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
from graphwalk.variables import read_variables

TEXT = "HELD_API_KEY=ключ-1\r\n"


@pytest.mark.parametrize(
    "content",
    [TEXT.encode(), TEXT.encode("utf-8-sig"), TEXT.encode("utf-16"), BOM_UTF16_BE + TEXT.encode("utf-16-be")],
    ids=["UTF-8", "UTF-8 with a mark", "UTF-16", "UTF-16, big end first"],
)
def test_an_env_file_is_read_by_its_mark(content: bytes, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(content)
    assert read_variables(tmp_path).get("HELD_API_KEY") == "ключ-1"


@pytest.mark.parametrize("content", ["KEY=clé".encode("latin-1"), BOM_UTF16_BE + b"x"], ids=["Latin-1", "half UTF-16"])
def test_an_env_file_in_another_encoding_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(content)
    with pytest.raises(ConfigError, match=r"\.env cannot be read") as refused:
        read_variables(tmp_path)
    assert "UTF-8" in refused.value.hint
