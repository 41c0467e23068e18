"""The episodes of a run: each task on a line of its own, below it one line a player."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from graphwalk.console import counted
from graphwalk.report.formats import duration
from graphwalk.types.inert import visible


def episode_list(heads: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """`heads`: the first fields of their lines in the log, task by task."""
    settings = len({head["setting"] for head in heads}) > 1
    names = [_player(head, settings) for head in heads]
    width = max(map(cell_len, names), default=0)
    for task, group in groupby(zip(heads, names, strict=True), lambda one: str(one[0]["task_id"])):
        yield Text(visible(task), style="bold")
        for head, name in group:
            verdict, style = _verdict(head)
            effort = f"{counted(head['tool_calls'], 'call')}, {duration(head['seconds'])}"
            yield Text.assemble(f"  {name}{' ' * (width - cell_len(name))}  ", (f"{verdict:<9}", style), f"  {effort}")


def _player(head: Mapping[str, Any], settings: bool) -> str:
    """Model, setting where there are several, and which repeat it is."""
    again = f" #{head['repeat']}" if head["repeat"] else ""
    return visible(f"{head['model']}{' ' + head['setting'] if settings else ''}{again}")


def _verdict(head: Mapping[str, Any]) -> tuple[str, str]:
    score = head["score"]
    if score is None:
        return visible(head["exit_status"]), "yellow"
    if score.get("correct") is None:
        return visible(head["exit_status"]), ""
    return ("right", "green") if score["correct"] else ("not right", "red")
