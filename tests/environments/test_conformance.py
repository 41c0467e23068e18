"""The official conformance suite of MCP against the server over HTTP; `make environments` installs it."""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.serve.mcp.servers import over_http

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "build" / "conformance" / "node_modules"
SEND_TOKEN = """
import { subscribe } from "node:diagnostics_channel";
const value = `Bearer ${process.env.TOKEN}`;
subscribe("undici:request:create", ({ request }) => request.addHeader("authorization", value));
subscribe("http.client.request.created", ({ request }) => request.setHeader("authorization", value));
"""
"""A module for node that adds the token to all requests: the suite has no option for headers."""


def documented() -> tuple[set[str], set[str]]:
    """Return the scenarios that pass, and patterns of those, or of their checks, that do not apply."""
    text = Path(__file__).with_name("conformance.yaml").read_text("utf-8")
    lists = yaml.safe_load(text)
    return set(lists["passing"]), {name for group in lists["does_not_apply"] for name in group["scenarios"]}


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[dict[str, Any]]]:
    """Return the checks of all scenarios for servers, in both forms of the protocol."""
    if not MODULES.exists():
        pytest.skip(f"no {MODULES}: make environments")
    folder, results = tmp_path_factory.mktemp("conformance"), dict[str, list[dict[str, Any]]]()
    (folder / "token.mjs").write_text(SEND_TOKEN)
    suite = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    with over_http("--graph", "example") as server:
        for version in ("2025-11-25", "2026-07-28"):
            words = [MODULES / ".bin" / "node", "--import", folder / "token.mjs", suite, "server", "--suite", "all"]
            words += ["--url", server.url, "--spec-version", version, "--output-dir", folder / version]
            env = {**os.environ, "TOKEN": server.token}
            subprocess.run(words, env=env, capture_output=True, cwd=folder, timeout=280)
            for path in (folder / version).glob("*/checks.json"):
                name = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", path.parent.name)
                results.setdefault(name, []).extend(json.loads(path.read_text("utf-8")))
    return results


@pytest.mark.slow
def test_all_scenarios_are_documented_and_those_that_apply_pass(checks: Mapping[str, list[dict[str, Any]]]) -> None:
    passing, excused = documented()
    assert passing == {name for name in checks if not any(fnmatch(name, pattern) for pattern in excused)}
    for name in passing:
        assert "SUCCESS" in {check["status"] for check in checks[name]}, name
        unsuccessful = {check["id"] for check in checks[name] if check["status"] in {"FAILURE", "WARNING"}}
        assert unsuccessful == {entry.partition(":")[2] for entry in excused if entry.startswith(f"{name}:")}, name
