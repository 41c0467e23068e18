"""A small run whose every field contains something that a terminal, a browser or a spreadsheet should not obey."""

import json
import shutil
from pathlib import Path
from typing import Any

from graphwalk.files.json_lines import encode_line, read_lines
from graphwalk.runs.folder import RunFolder

RUNS = Path(__file__).parents[2] / "data" / "runs"
ESCAPE = "\x1b]0;gone\x07\x1b[2J\x9b31m"
SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://x.invalid","a")'
HALF = "half \ud800 a character"
BIDI = "\u202egnp.exe"
HOSTILE = f"{ESCAPE}{SCRIPT}{BIDI}"
MODEL = "openai/=cmd|' /C calc'!A0"


def copied(name: str, to: Path) -> RunFolder:
    """A run as an earlier version left it."""
    shutil.copytree(RUNS / name, to)
    return RunFolder.open(to)


def hostile_run(to: Path) -> RunFolder:
    """Two models; the second one is hostile in all its replies, and has malformed calls and a failed episode."""
    folder = copied("questions", to)
    records = list(read_lines(folder.results_path))
    lines = [
        _planted(record, n) if record["model"] == "scripted/flawed" else record for n, record in enumerate(records)
    ]
    again = next(record for record in lines if record["model"] == MODEL)
    failed = {**again, "score": None, "answer": None, "exit_status": "model_error"}
    failed["trajectory"] = {**again["trajectory"], "exit_status": "model_error", "error": f"{FORMULA}{ESCAPE}"}
    # The failed one is first: it was tried again, and the last line counts.
    folder.results_path.write_bytes(b"".join(map(encode_line, [failed, *lines])))
    manifest = folder.read_manifest()
    manifest["config"]["models"] = ["scripted/expert", MODEL]
    folder.write_manifest(manifest)
    return folder


def _planted(record: dict[str, Any], number: int) -> dict[str, Any]:
    text = json.dumps(record).replace("scripted/flawed", MODEL.replace('"', '\\"'))
    planted: dict[str, Any] = json.loads(text)
    planted["answer"] = [{"node_key": f"{FORMULA}{HOSTILE}", HOSTILE: float("nan")}]
    planted["usage"] = {"input_tokens": 10, "output_tokens": 5, "cost": 0.5}
    for turn in planted["trajectory"]["turns"]:
        turn["usage"] = {"input_tokens": 10, "output_tokens": 5}
        turn["message"]["content"] = f"{FORMULA}{HOSTILE}{HALF}"
        turn["message"]["reasoning"] = HALF
        for result in turn.get("results", ()):
            result["content"] = f"{FORMULA}{HOSTILE}"
            result["call"]["arguments"] = '{"label": "x' if number % 3 else '{"label": "\\ud800", "n": 1e999}'
        for call in turn["message"].get("tool_calls", ()):
            call["arguments"] = '{"label": "x' if number % 3 else '{"label": "\\ud800", "n": 1e999}'
    return planted
