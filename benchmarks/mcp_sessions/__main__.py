"""Walk a small graph with the clients in Python and TypeScript, compare them, and write docs/mcp.md."""

import asyncio
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.markers import DOCS, caption, write_between_markers
from benchmarks.mcp_sessions.films import FILMS
from benchmarks.mcp_sessions.python_client import walk
from graphwalk.graphs.files import save_graph

HERE = Path(__file__).parent
MODULES = DOCS.parent / "build" / "node"
"""Where `make mcp` puts the TypeScript SDK."""
STEPS: list[tuple[str, dict[str, Any]]] = [
    (name, arguments) for name, arguments in json.loads((HERE / "steps.json").read_text(encoding="utf-8"))
]
PACKAGE = "@modelcontextprotocol/sdk"
_LONGEST = 110


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "films.json"
        save_graph(FILMS, graph)
        words = ["-m", "graphwalk", "mcp", "--graph", str(graph)]
        seen = asyncio.run(walk(sys.executable, words, STEPS))
        session = transcript(seen)
        text = f"{caption('make mcp')} The client of `mcp` {version('mcp')}:\n\n```text\n{session}\n```"
        write_between_markers(DOCS / "mcp.md", "session python", text)
        if transcript(_run_typescript(words)) != session:
            sys.exit(f"the session of `{PACKAGE}` {_installed()} differs from that of the Python client")


def _run_typescript(server: list[str]) -> dict[str, Any]:
    """Return the output of the TypeScript client of a server that Python starts with these words."""
    request = json.dumps({"modules": str(MODULES), "steps": STEPS, "command": sys.executable, "args": server})
    words = ["node", str(HERE / "typescript_client.mjs"), request]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        sys.exit(f"the TypeScript client failed:\n{done.stderr}")
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def transcript(seen: dict[str, Any]) -> str:
    """The session line by line: → what the client asks, ← what comes back."""
    lines = ["→ initialize", f"← {seen['server']['title']}", f"  {seen['instructions'].splitlines()[0]} …"]
    lines += ["→ tools/list", *(f"← {t['name']}  {_hints(t)}" for t in seen["tools"])]
    lines += ["→ resources/read graphwalk://schema", *(f"← {line}" for line in seen["schema"].strip().splitlines())]
    for (name, arguments), answer in zip(STEPS, seen["answers"], strict=True):
        lines += [f"→ tools/call {name} {json.dumps(arguments)}"]
        mark = "✗" if answer.get("isError") else "←"
        lines += [f"{mark} {line}" for line in answer["content"][0]["text"].splitlines()]
        if "structuredContent" in answer:
            lines.append(f"  structuredContent: {json.dumps(answer['structuredContent'])}")
    return "\n".join(line if len(line) <= _LONGEST else line[:_LONGEST].rpartition(" ")[0] + " …" for line in lines)


def _hints(tool: dict[str, Any]) -> str:
    hints = tool["annotations"]
    return ", ".join(f"{name} {str(hints[name]).lower()}" for name in sorted(hints) if name.endswith("Hint"))


def _installed() -> str:
    package = json.loads((MODULES / "node_modules" / PACKAGE / "package.json").read_text(encoding="utf-8"))
    return str(package["version"])


if __name__ == "__main__":
    main()
