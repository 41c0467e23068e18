"""The database of a stopped server out of the way, so that whoever is killed in between loses nothing.

    in its place ──→ set-aside/ ──→ given-up/ ──→ (gone)
         ↑               │              │
         └───────────────┴──────────────┘ where something fails

Before a server starts, what is set aside is put back. A server starts on another database only after the old one was
given up, so that nothing is put back over what was written since.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "neo4j"
"""The one database of a Neo4j Community."""
_PLACES = ("databases", "transactions")
_ASIDE = "set-aside"
_GIVEN_UP = "given-up"


def put_aside(folder: Path) -> None:
    """Take the database of the stopped server of `folder` out of its place."""
    forget(folder)
    (folder / _ASIDE).mkdir()
    for place in _PLACES:
        _place(folder, place).rename(folder / _ASIDE / place)


def put_back(folder: Path) -> None:
    """Put what was set aside back into its place, instead of what is there; nothing where nothing was set aside.

    May be interrupted and begun again at any point.
    """
    for place in _PLACES:
        kept = folder / _ASIDE / place
        if kept.exists():
            if _place(folder, place).exists():
                shutil.rmtree(_place(folder, place))
            kept.rename(_place(folder, place))
    if (folder / _ASIDE).exists():
        (folder / _ASIDE).rmdir()


def recover(folder: Path) -> None:
    """Put in order what a command that was killed has left behind."""
    put_back(folder)
    forget(folder)


@contextmanager
def given_up(folder: Path) -> Iterator[None]:
    """What was set aside is removed after the block; where the block fails, it is set aside again."""
    (folder / _ASIDE).rename(folder / _GIVEN_UP)
    try:
        yield
    except BaseException:
        (folder / _GIVEN_UP).rename(folder / _ASIDE)
        raise
    forget(folder)


def forget(folder: Path) -> None:
    """Remove what was given up."""
    if (folder / _GIVEN_UP).exists():
        shutil.rmtree(folder / _GIVEN_UP)


def last_written(folder: Path) -> dict[str, tuple[int, int]]:
    """The files of the log of transactions: when each was written (ns), and its size in bytes.

    Every transaction that changes the database is written there first; stopping the server adds nothing.
    """
    files = _place(folder, "transactions").glob("neostore.transaction.db.*")
    return {file.name: (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def _place(folder: Path, place: str) -> Path:
    return folder / "data" / place / NAME
