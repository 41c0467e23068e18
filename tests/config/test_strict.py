"""Configuration files that are no plain YAML."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.config.resources import YamlFile, parse_value
from graphwalk.errors import ConfigError

WRONG = {
    "name: !!python/object:os.system a": (1, "constructor for the tag 'tag:yaml.org,2002:python/object:os.system'"),
    "a: 1\nb: 2\na: 3": (3, "the field 'a' is given twice, first in line 1"),
    "a: 1\nseed: 2026-13-45": (None, "month must be in 1..12"),
    "seed: " + "9" * 5000: (None, "Exceeds the limit"),
    "a: b\n  c: d": (2, "mapping values are not allowed here"),
    "a: 1\n---\nb: 2": (2, "expected a single document"),
}


@pytest.mark.parametrize("text", WRONG, ids=[text[:20] for text in WRONG])
def test_extended_yaml_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    line, words = WRONG[text]
    with pytest.raises(ConfigError) as caught:
        YamlFile.read(path)
    assert str(caught.value).startswith(f"{path}:{line}: not" if line else f"{path}: not")
    assert words in str(caught.value)


@given(st.text(alphabet="ab:-[]{}&*!? \n'\"|>%@#,0.~", max_size=60))
def test_any_text_is_data_or_a_mistake(text: str) -> None:
    with suppress(ConfigError):
        parse_value(text, "-o a")


def test_a_file_that_is_no_text_or_no_file(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9")
    with pytest.raises(ConfigError, match=r"latin\.yaml: cannot be read: not UTF-8 text"):
        YamlFile.read(tmp_path / "latin.yaml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        YamlFile.read(tmp_path)
