"""The replies of a run on disk, so that a resumed run does not ask for them again."""

from collections.abc import Iterator
from pathlib import Path

from graphwalk.errors import ModelError, RunLogError
from graphwalk.files.json_lines import LineWriter, decode_line, encode_line
from graphwalk.files.writing import write_whole
from graphwalk.types.chat import Reply
from graphwalk.types.wire import from_dict, to_dict


class ReplyCache:
    """The replies of one run on disk, one line each; memory holds only their positions in the file.

    The lock of the run folder admits one process at a time. Damaged lines are removed from the file, and counted by
    `damaged`; an incomplete last line is removed, too. Raise RunLogError if the file cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self._places: dict[bytes, tuple[int, int]] = {}
        self._path = path
        try:
            path.touch()
            if damaged := self._index():
                write_whole(path, (line for key, line in _keyed(path) if key is not None), error=RunLogError)
                self._index()
            self.damaged = damaged
            self._reader = path.open("rb")
        except OSError as error:
            raise RunLogError(f"the reply cache {path} cannot be opened: {error.strerror}") from error
        self._writer = LineWriter(path)

    def _index(self) -> int:
        """Find the lines of the file. Return the number of damaged ones."""
        damaged = self._end = 0
        for key, line in _keyed(self._path):
            if key is None:
                damaged += 1
            else:
                self._places[key] = (self._end, len(line))
            self._end += len(line)
        return damaged

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> Reply | None:
        place = self._places.get(bytes.fromhex(key))
        if place is None:
            return None
        self._reader.seek(place[0])
        return from_dict(Reply, decode_line(self._reader.read(place[1]))["reply"])

    def put(self, key: str, reply: Reply) -> None:
        """Write a reply to the file, before it is used. Raise ModelError if it has no JSON form."""
        try:
            line = encode_line({"key": key, "reply": to_dict(reply)})
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            raise ModelError(f"the reply cannot be recorded: {cause}") from error
        self._writer.write(line)
        self._places[bytes.fromhex(key)] = (self._end, len(line))
        self._end += len(line)

    def check(self) -> None:
        """Raise RunLogError if further replies would be lost."""
        self._writer.check()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


def _keyed(path: Path) -> Iterator[tuple[bytes | None, bytes]]:
    """Yield the complete lines of a reply cache with their keys, None for a damaged line."""
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return
            try:
                record = decode_line(line)
                from_dict(Reply, record["reply"])
                yield bytes.fromhex(record["key"]), line
            except (ValueError, KeyError, TypeError, RecursionError):
                yield None, line
