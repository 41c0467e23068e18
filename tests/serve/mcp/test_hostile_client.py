"""Hostile strings through the whole server: every one is answered, and the server continues."""

import asyncio
from pathlib import Path

import pytest

from tests.safety.hostile import hostile_strings
from tests.serve.mcp.servers import over_stdio

LONGEST = 20_000


@pytest.mark.extended
async def test_every_string_is_answered(odd_file: Path, tmp_path: Path) -> None:
    texts = [h.text[:LONGEST] for h in hostile_strings() if h.family != "surrogates"]
    by_hue = {"label": "Zorep", "property_name": "hue"}
    async with over_stdio("--graph", odd_file, errors=tmp_path / "errors") as client:
        by_value = [client.call_tool("get_node_by_property", {**by_hue, "property_value": text}) for text in texts]
        for text, answer in zip(texts, await asyncio.gather(*by_value), strict=True):
            assert not answer.is_error, text[:80]
            assert answer.structured_content["rows"] == []
        by_name = [client.call_tool(text, {"label": text, text: text}) for text in texts]
        for answer in await asyncio.gather(*by_name):
            assert answer.is_error
    assert "Traceback" not in (tmp_path / "errors").read_text()
