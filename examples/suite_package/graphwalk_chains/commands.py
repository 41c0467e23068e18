"""`graphwalk generate chain` and `graphwalk export chains`."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.terminal.console import data
from graphwalk_chains.chains import make_chain


def generate_chain(
    length: Annotated[int, typer.Option(min=2, help="Number of nodes.")] = 6,
    seed: Annotated[int, typer.Option(help="Same seed, same chain.")] = 0,
) -> None:
    """Print the keys of a chain."""
    data(" ".join(make_chain(length, seed, 0)))


def export_chains(
    file: Annotated[Path, typer.Argument(help="One JSON object a line.")],
    count: Annotated[int, typer.Option(min=1, help="How many chains.")] = 10,
    seed: Annotated[int, typer.Option(help="Same seed, same chains.")] = 0,
) -> None:
    """Write chains as training data."""
    chains = [make_chain(6, seed, number) for number in range(count)]
    file.write_text("".join(json.dumps({"chain": keys, "end": keys[-1]}) + "\n" for keys in chains), encoding="utf-8")
    data(f"{count} chains written to {file}")


GENERATE: Mapping[str, Callable[..., None]] = {"chain": generate_chain}
EXPORT: Mapping[str, Callable[..., None]] = {"chains": export_chains}
