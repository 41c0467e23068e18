"""`graphwalk runs`: what was run, how far it got, what came out."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.console import NO_LIMIT, data, printable, prose, say, stdout

if TYPE_CHECKING:
    from rich.table import Table

    from graphwalk.runlog.listing import ListedRun


def runs(
    folder: Annotated[Path, typer.Argument(help="A folder of run folders.")] = Path("runs"),
    tag: Annotated[list[str] | None, typer.Option(help="Only runs with this tag; repeatable.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the runs in a folder, oldest first.

    With models, state, episodes, accuracy and cost. A run that is not finished goes on with `graphwalk resume`.
    """
    from graphwalk.errors import ConfigError
    from graphwalk.runlog.listing import list_runs

    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}", hint="graphwalk run quickstart   makes runs/ and a run in it")
    listed = [run for run in list_runs(folder) if set(tag or ()) <= set(run.tags)]
    if json:
        for run in listed:
            data(json_module.dumps(run.as_dict()))
    elif listed:
        _print(listed)
    else:
        say(f"no run in {folder}" + (f" has the tag {', '.join(tag)}" if tag else ""))


def _print(listed: "list[ListedRun]") -> None:
    """A table where it has room; else the name of a run, which people copy, has a line of its own."""
    from rich.measure import Measurement

    for between in (", ", "\n"):
        table = _table(listed, between)
        if Measurement.get(stdout(), stdout().options.update(width=NO_LIMIT), table).maximum <= stdout().width:
            stdout().print(table)
            return
    for run in listed:
        episodes, accuracy, cost = _figures(run)
        data(printable(str(run.path)))
        prose(f"    {_state(run)}, {episodes} episodes, {accuracy} % right, cost {cost}")
        prose(f"    {', '.join(run.models)}")


def _table(listed: "list[ListedRun]", between: str) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("run", "models", "state"):
        table.add_column(title)
    for title in ("episodes", "Accuracy %", "cost"):
        table.add_column(title, justify="right")
    for run in listed:
        names = Text(printable(str(run.path))), Text(printable(between.join(run.models)))
        table.add_row(*names, _state(run), *_figures(run))
    return table


def _state(run: "ListedRun") -> str:
    return run.state if run.shard is None else f"{run.shard}, {run.state}"


def _figures(run: "ListedRun") -> tuple[str, str, str]:
    """Episodes, accuracy, cost."""
    total = "?" if run.episodes is None else run.episodes
    return (
        f"{run.done}/{total}",
        "–" if run.accuracy is None else f"{run.accuracy:.2f}",
        "–" if run.cost is None else f"${run.cost:.4f}",
    )
