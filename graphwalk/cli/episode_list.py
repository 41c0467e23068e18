"""The episodes of a run, one a line."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from graphwalk.report.formats import duration
from graphwalk.types.inert import visible


def episode_list(heads: Sequence[Mapping[str, Any]]) -> Table:
    """`heads`: the first fields of their lines in the log."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("task", "model", "setting", ""):
        table.add_column(title, overflow="fold")
    for title in ("calls", "time"):
        table.add_column(title, justify="right", no_wrap=True)
    for head in heads:
        again = f" #{head['repeat']}" if head["repeat"] else ""
        names = (visible(f"{head['task_id']}{again}"), visible(head["model"]), visible(head["setting"]))
        calls, seconds = str(head["tool_calls"]), duration(head["seconds"])
        table.add_row(*map(Text, names), _verdict(head), calls, seconds)
    return table


def _verdict(head: Mapping[str, Any]) -> Text:
    score = head["score"]
    if score is None:
        return Text(visible(head["exit_status"]), style="yellow")
    if score.get("correct") is None:
        return Text(visible(head["exit_status"]))
    return Text("right", style="green") if score["correct"] else Text("not right", style="red")
