"""What each part of the tools is worth: the experiment `ablation-tools` with one part left out at a time."""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import graphwalk
from benchmarks.markers import DOCS, markdown_table, write_between_markers

PAGE = DOCS / "method.md"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "all as it is": {},
    "no properties of relationships": {"relationship_properties": False},
    "no directions": {"direction": False},
    "neither of both": {"relationship_properties": False, "direction": False},
    "no `think`": {"think": False},
    "one call per turn": {"parallel_tool_calls": False},
    "pages of 20 rows": {"result_budget": 20},
    "results as CSV": {"encoding": "csv"},
    "compact results": {"encoding": "compact"},
}
"""Name → fields of `agent`."""


def measured(model: str, agent: Mapping[str, Any]) -> list[str]:
    """Cells of a line: right answers and F1, those given within the limit of turns, calls, the kinds that fail."""
    with tempfile.TemporaryDirectory() as folder:
        records = graphwalk.run("ablation-tools", models=[model], out=f"{folder}/run", agent=dict(agent)).records()
    right = sum(record["correct"] for record in records)
    f1 = sum(record["f1"] for record in records) / len(records)
    forced = sum(record["exit_status"] == "turn_limit" for record in records)
    wrong = sorted({record["task_template"] for record in records if not record["correct"]})
    calls = sum(record["tool_calls"] for record in records)
    failing = ", ".join(f"`{name}`" for name in wrong)
    return [f"{right} of {len(records)}", f"{f1:.2f}", str(calls), str(forced), failing or "none"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation_tools", description=__doc__)
    parser.add_argument("--model", default="scripted/expert", help="only the expert's table goes into the page")
    options = parser.parse_args()
    rows = []
    for name, agent in VARIANTS.items():
        print(name, file=sys.stderr, flush=True)
        fields = ", ".join(f"`{field}: {str(value).lower()}`" for field, value in agent.items())
        rows.append([f"{name} ({fields})" if fields else name, *measured(options.model, agent)])
    columns = ["tools", "right", "F1", "calls", "at the turn limit", "kinds with wrong answers"]
    table = markdown_table(columns, rows)
    print(table)
    if options.model == "scripted/expert":
        write_between_markers(PAGE, "ablation-tools", table)


if __name__ == "__main__":
    main()
