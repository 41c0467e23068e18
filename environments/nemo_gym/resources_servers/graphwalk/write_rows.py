"""Write the rows of an experiment: python write_rows.py quickstart --out train.jsonl

`--cases FILE` also writes the cases of the verifier fixture, for which the scripted expert plays.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from graphwalk_tasks import FIXTURE, Tasks, items_of

import graphwalk
from graphwalk.types.episode import Trajectory


async def rows_of(experiment: Any) -> list[dict[str, Any]]:
    tasks = Tasks(experiment)
    rows = [row async for row in tasks.rows()]
    await tasks.close()
    return rows


def response(output: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an object of the Responses API with these items in its output."""
    fixed = {"id": "response", "created_at": 0, "model": "expert", "object": "response"}
    return {**fixed, "output": output, "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}


def reply(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "message", "type": "message", "role": "assistant", "status": "completed", "content": content}


def output_of(trajectory: Trajectory) -> list[dict[str, Any]]:
    """Return calls, results and answer of an episode as items of a response."""
    output: list[dict[str, Any]] = []
    for turn in trajectory.turns:
        output += [item for item in items_of(turn.message) if item["type"] == "function_call"]
        output += [
            {"type": "function_call_output", "call_id": one.call.id, "output": one.content} for one in turn.results
        ]
    return [*output, reply(trajectory.turns[-1].message.content or "")]


async def cases() -> list[dict[str, Any]]:
    """Return the cases of the fixture: the expert's response, an empty answer, an unknown task, a repetition."""
    (row,) = await rows_of(FIXTURE)
    with tempfile.TemporaryDirectory() as folder:
        run = await graphwalk.arun(FIXTURE, models=["scripted/expert"], out=Path(folder) / "run")
        (result,) = run.results()
    request = {**row, "response": response(output_of(result.trajectory))}
    guess = {**row, "response": response([reply("[]")])}
    unknown = {**request, "task": "unknown"}
    return [
        {"name": "expert", "kind": "full_reward", "request": request, "expected_reward": 1.0},
        {"name": "guess", "kind": "zero_reward", "request": guess, "expected_reward": 0.0},
        {"name": "unknown task", "kind": "malformed", "request": unknown, "expected_error": "no task unknown"},
        {"name": "expert again", "kind": "determinism", "request": request, "expected_reward": 1.0},
    ]


def write(path: Path, lines: Iterable[Any]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", help="name or path of an experiment, the one of the server")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="number of rows")
    parser.add_argument("--cases", type=Path, help="also write the cases of the verifier fixture")
    options = parser.parse_args()
    rows = await rows_of(options.experiment)
    write(options.out, islice(rows, options.limit))
    if options.cases:
        write(options.cases, await cases())


if __name__ == "__main__":
    asyncio.run(main())
