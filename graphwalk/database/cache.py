"""What `graphwalk db up` fetched and keeps for the next time: the published jars, by release."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from graphwalk.errors import StoreError


@dataclass(frozen=True)
class Cached:
    """A folder of fetched files."""

    path: Path
    bytes: int

    @property
    def megabytes(self) -> str:
        return f"{self.bytes / 1e6:,.0f} MB" if self.bytes >= 1e6 else f"{self.bytes / 1e3:,.0f} kB"


def cache_folder() -> Path:
    """The folder of all of it, which need not exist."""
    return platformdirs.user_cache_path("graphwalk-neo4j", appauthor=False)


def cached() -> list[Cached]:
    """What is there, by name; what a killed download left counts too. StoreError where it cannot be looked at."""
    folder = cache_folder()
    try:
        places = sorted(folder.iterdir()) if folder.is_dir() else []
        return [Cached(path, _size(path)) for path in places]
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error.strerror}") from error


def whole(parts: list[Cached]) -> Cached:
    """All of them as one."""
    return Cached(cache_folder(), sum(part.bytes for part in parts))


def purge() -> None:
    """Remove all of it. StoreError where that is not allowed."""
    folder = cache_folder()
    try:
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise StoreError(f"{folder} cannot be removed: {error}", hint=f"remove {folder} by hand") from error


def _size(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())
