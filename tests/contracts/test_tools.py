"""The contract of tools, checked for each one that ships; the shipped check finds the faults of others."""

from pathlib import Path

import pytest

from graphwalk.files.resources import data_path
from graphwalk.tools.tool import tool_names
from tests.contracts.extension_checks import check_tool

GOOD = (data_path("tools") / "get_node_by_property.yaml").read_text(encoding="utf-8")
PATTERN = "MATCH (n:{{ label | label }})"


@pytest.mark.parametrize("name", tool_names())
def test_tool_contract(name: str) -> None:
    check_tool(name)


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("When to use it:", "Use it", "the description lacks 'When to use it:'"),
        (PATTERN, f"{PATTERN}, (m)", r"\(m\) matches nodes of other graphs"),
    ],
)
def test_a_bad_tool_is_found_out(tmp_path: Path, old: str, new: str, cause: str) -> None:
    assert old in GOOD
    tool = tmp_path / "get_node_by_property.yaml"
    tool.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AssertionError, match=cause):
        check_tool(tool)
