"""One shard as it is handed to a machine, and what comes back.

The machine that hands it out has a folder for all shards. Where the same folder is found here, the disk is shared: the
shard is played there, and whoever takes it over after a crash goes on with it. Elsewhere it is played in a folder of
this machine, packed, and sent back; who takes it over on another machine begins again.
"""

import io
import tempfile
import zipfile
from asyncio import run as run_in_loop
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphwalk.environment import read_environment
from graphwalk.errors import RunLogError
from graphwalk.experiments.loading import experiment_from
from graphwalk.files import check_links
from graphwalk.runlog.run_folder import NewRun, RunFolder
from graphwalk.runner.progress import Silent
from graphwalk.runner.resolve import resolve
from graphwalk.runner.run import resume_run, start_run
from graphwalk.runner.shards import Shard
from graphwalk.runner.tally import RunSummary

ABOUT = "about.json"
"""Beside the shards: what they are shards of."""


@dataclass(frozen=True)
class ShardWork:
    """What a machine is told. `config` is the experiment with this shard's part of pace and budgets."""

    config: Mapping[str, Any]
    shard: Shard
    shards: str
    """The folder of all shards."""
    about: str
    """The text of `about.json` in it."""
    name: str
    """Of the folder in the temporary folder of a machine that does not share the disk."""
    working_folder: str
    """Where a `.env` is looked for; keys themselves are never sent."""
    log_level: str = "info"


@dataclass(frozen=True)
class PlayedShard:
    """`packed`: the run folder as a zip file; None where it is on a disk that is shared."""

    shard: Shard
    summary: RunSummary
    packed: bytes | None


def play_shard(work: ShardWork) -> PlayedShard:
    """Play a shard, or go on with what is left of it. Errors of the run are raised."""
    shards = Path(work.shards)
    shared = _shared(shards, work.about)
    place = shard_folder(shards if shared else Path(tempfile.gettempdir()) / work.name, work.shard)
    summary = run_in_loop(_played(work, place))
    return PlayedShard(work.shard, summary, None if shared else _packed(place))


def shard_folder(shards: Path, shard: Shard) -> Path:
    return shards / f"{shard.number:04}"


def unpack(packed: bytes, folder: Path) -> None:
    """A shard that was played elsewhere, as the run folder that it was there."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(folder)


def _shared(shards: Path, about: str) -> bool:
    try:
        return (shards / ABOUT).read_text(encoding="utf-8") == about
    except OSError:
        return False


async def _played(work: ShardWork, place: Path) -> RunSummary:
    environment = read_environment(Path(work.working_folder))
    if (place / "run.json").exists():
        return await resume_run(RunFolder.open(place), environment, Silent(), log_level=work.log_level)
    config = experiment_from(work.config, "the experiment")
    new = NewRun.make(config.name, place)
    return await start_run(resolve(config, environment), new, Silent(), log_level=work.log_level, shard=work.shard)


def _packed(place: Path) -> bytes:
    """Return the run folder as a ZIP file, and remove it. RunLogError for a link that leads out of it."""
    check_links(place, RunLogError)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(place.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(place))
    RunFolder(place).remove()
    return written.getvalue()
