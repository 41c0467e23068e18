"""The entry of the MCP registry: what its checks compare, and the command that its clients build."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from graphwalk.version import __version__

ROOT = Path(__file__).parents[1]
SERVER = json.loads((ROOT / "server.json").read_text("utf-8"))
PACKAGE = SERVER["packages"][0]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_name_is_that_of_the_readme_and_of_the_image() -> None:
    readme, dockerfile = ((ROOT / name).read_text("utf-8") for name in ("README.md", "Dockerfile"))
    assert re.findall(r"mcp-name: (\S+)", readme) == [SERVER["name"]]
    assert f'LABEL io.modelcontextprotocol.server.name="{SERVER["name"]}"\n' in dockerfile
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])


def test_the_versions_are_that_of_the_package() -> None:
    (source,) = (argument["value"] for argument in PACKAGE["runtimeArguments"])
    assert {SERVER["version"], PACKAGE["version"], source.partition("==")[2]} == {__version__}
    assert len(SERVER["description"]) <= 100


def test_a_client_of_the_registry_starts_a_command_of_the_distribution() -> None:
    """Such a client runs: hint, runtime arguments, identifier, package arguments."""
    assert (PACKAGE["runtimeHint"], PACKAGE["identifier"]) == ("uvx", PROJECT["name"])
    assert PROJECT["scripts"][PACKAGE["identifier"]] == PROJECT["scripts"]["graphwalk"]
    words = [word for argument in PACKAGE["packageArguments"] for word in (argument.get("name"), argument["value"])]
    command = [sys.executable, "-m", "graphwalk", *filter(None, words)]
    done = subprocess.run(command, env={"NEO4J_URI": "bolt://127.0.0.1:1"}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stderr
    assert "127.0.0.1:1" in done.stderr
