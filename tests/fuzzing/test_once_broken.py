"""Inputs that long fuzzing found: each ended in a traceback once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graphwalk.errors import GraphwalkError
from tests.fuzzing.test_readers import FILES


def _before(text: str, *marks: str) -> Callable[[str], str]:
    def changed(content: str) -> str:
        found = next(mark for mark in marks if mark in content)
        return content.replace(found, text + found, 1)

    return changed


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        pytest.param(
            "graphml", lambda content: content.replace("UTF-8", "UT-8").replace("utf-8", "ut-8"), id="encoding"
        ),
        pytest.param("question", _before("{{ 1e999 }} ", "MATCH"), id="infinite"),
        pytest.param("question", _before("{{ 1 / 0 }} ", "MATCH"), id="division"),
        pytest.param("question", _before("{{ 'a' + 1 }} ", "MATCH"), id="sum"),
        pytest.param("tool", _before("{{ " + "9" * 5000 + " }}", "Gives", "Shows", "Finds"), id="digits"),
        pytest.param("results.jsonl", lambda content: "[" * 100_000 + "\n" + content, id="deep"),
    ],
)
def test_input_is_refused_without_a_traceback(name: str, changed: Callable[[str], str], tmp_path: Path) -> None:
    path, read = FILES[name](tmp_path)
    path.write_text(changed(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(GraphwalkError):
        read(path)
