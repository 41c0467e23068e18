"""`graphwalk export magma`: training data for people who fine-tune."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Write training data.", no_args_is_help=True)

_SPLITS = ("train", "validation", "test")


@app.callback()
def export() -> None:
    """Write training data."""


@app.command("magma")
def magma(
    folder: Annotated[Path, typer.Argument(help="A new folder; with --verify an exported one.")],
    algorithm: Annotated[list[str] | None, typer.Option(help="Repeatable. Default: all five.")] = None,
    nodes: Annotated[list[int] | None, typer.Option(help="Repeatable. Default: 5.")] = None,
    strategy: Annotated[list[str] | None, typer.Option(help="io, io_reasoning, is or ish; repeatable.")] = None,
    split: Annotated[list[str] | None, typer.Option(help="train, validation or test; repeatable.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Traces of each kind. Default: the paper's number.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 0,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of an edge.")] = 0.5,
    mixed: Annotated[bool, typer.Option("--mixed", help="One shuffled file per split.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Prove that the splits of an export are disjoint.")] = False,
) -> None:
    """Write MAGMA as fine-tuning chats, or verify such a folder.

    `datasets`, TRL and what takes the OpenAI chat format read them.
    """
    from graphwalk.cli.console import data
    from graphwalk.cli.magma_specs import magma_specs
    from graphwalk.suites.magma.export import export_magma
    from graphwalk.suites.magma.suite import MagmaSuite
    from graphwalk.suites.magma.verify_export import verify_export

    if not verify:
        specs = magma_specs(algorithm, nodes, count, p, split or _SPLITS)
        manifest = export_magma(specs, folder, seed=seed, strategies=strategy or MagmaSuite.settings, mixed=mixed)
        data(f"{len(manifest['files'])} files written to {folder}")
    proven = verify_export(folder)
    for name in proven.chats:
        counts = f"{proven.chats[name]} chats, {proven.data_points[name]} data points, {proven.graphs[name]} graphs"
        data(f"{name:<10} {counts}")
    data("proven: no graph stands in two splits, no chat twice, and every file is as the manifest says")
