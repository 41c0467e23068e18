"""What policies are worth to a small model: the same questions asked plainly, with one at a time, and with all.

    LOCAL_BASE_URL=http://127.0.0.1:8080/v1 python -m benchmarks.small_policies FOLDER --model openai-api/local/NAME

A run for each policy in FOLDER, as `graphwalk compare` takes them, but for that of short names, which has graphs of its
own; a run that was stopped is gone on with. Prints a table of the runs that are done.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import graphwalk
from benchmarks.coverage import wilson
from benchmarks.markers import markdown_table
from benchmarks.small_contexts import POLICIES, WALKING, experiment

SHORT_WALKS = (
    *("node_by_property", "node_count", "node_with_most_relationships", "path_finding", "path_from_specific_node"),
    *("remote_node_property", "compositional_intersection", "negation_on_rel_property", "negation_with_connection"),
)
"""The kinds for which the expert needs few calls; the other three are told by walking the whole graph."""
STUCK = {"repeat_limit": 3}
ALL = {name: value for fields in POLICIES.values() for name, value in fields.items() if name != "short_names"} | STUCK
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "all but short names": ALL,
    "all but short names and answer by reference": {**ALL, "tools": WALKING},
    **POLICIES,
    "stop at repeats": STUCK,
}
MEANS = ("f1", "tool_calls", "tool_errors", "usage_input_tokens", "usage_output_tokens")
LIMITS = {"max_concurrency": 1, "call_seconds": 1800}
"""A small machine reads a long prompt for minutes."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_policies", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--graphs", type=int, default=1)
    parser.add_argument(
        "--only", nargs="*", choices=VARIANTS, default=list(VARIANTS), help="these policies, in this order"
    )
    options = parser.parse_args()
    for name in options.only:
        print(name, file=sys.stderr, flush=True)
        asked(options, name)
    rows = [told(name, folder_of(options, name)) for name in VARIANTS if done(folder_of(options, name))]
    print(markdown_table(["policy", "right (95 %)", "F1", "calls", "failed", "tokens read", "written"], rows))


def folder_of(options: argparse.Namespace, policy: str) -> Path:
    return Path(options.folder) / policy.replace(",", "").replace(" ", "-")


def done(folder: Path) -> bool:
    return (folder / "results.jsonl.gz").exists()


def asked(options: argparse.Namespace, policy: str) -> None:
    folder = folder_of(options, policy)
    if done(folder):
        return
    if folder.exists():
        graphwalk.open_run(folder).resume()
        return
    model = {"seed": 7, "options": {"temperature": 0, "max_output_tokens": 256}, "limits": LIMITS}
    fields = {"turn_limit": 12, **VARIANTS[policy]}
    config = experiment(fields, options.nodes, options.graphs, suite={"questions": list(SHORT_WALKS)}, **model)
    graphwalk.run(config, models=[options.model], out=folder)


def told(policy: str, folder: Path) -> list[str]:
    """Cells of a line: right answers with Wilson's interval; means of F1, calls, calls that failed, and tokens."""
    records = graphwalk.open_run(folder).records()
    n, right = len(records), sum(record["correct"] for record in records)
    low, high = (100 * bound for bound in wilson(right, n))
    f1, calls, failed, read, written = (sum(record[name] or 0 for record in records) / n for name in MEANS)
    told = f"{right} of {n} ({low:.0f}–{high:.0f} %)"
    return [policy, told, f"{f1:.2f}", f"{calls:.1f}", f"{failed:.1f}", f"{read:,.0f}", f"{written:,.0f}"]


if __name__ == "__main__":
    main()
