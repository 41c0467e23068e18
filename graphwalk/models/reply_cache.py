"""A cache of replies on disk, one line each, so that no call is paid for twice.

A line is written before its reply is used. The lock of the run folder admits one process at a time.
"""

from pathlib import Path

from graphwalk.errors import RunLogError
from graphwalk.files import check_in_place
from graphwalk.jsonlines import decode_line, encode_line
from graphwalk.types.chat import Reply
from graphwalk.types.wire import from_dict, to_dict


class ReplyCache:
    """The replies of one run by key; memory holds only their positions in the file.

    `damaged` counts unreadable lines, whose calls are made again. An incomplete last line is dropped.
    Raise RunLogError if the file cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self.damaged = 0
        self._places: dict[bytes, tuple[int, int]] = {}
        self._path = path
        try:
            self._writer = path.open("ab")
            self._reader = path.open("rb")
            self._end = self._index()
            self._writer.truncate(self._end)
        except OSError as error:
            raise RunLogError(f"the reply cache {path} cannot be opened: {error.strerror}") from error

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> Reply | None:
        place = self._places.get(bytes.fromhex(key))
        if place is None:
            return None
        self._reader.seek(place[0])
        return from_dict(Reply, decode_line(self._reader.read(place[1]))["reply"])

    def put(self, key: str, reply: Reply) -> None:
        """Write a reply to the file, before it is used."""
        line = encode_line({"key": key, "reply": to_dict(reply)})
        try:
            self._writer.write(line)
            self._writer.flush()
        except OSError as error:
            raise RunLogError(f"the reply cache {self._path} cannot be written: {error.strerror}") from error
        self._places[bytes.fromhex(key)] = (self._end, len(line))
        self._end += len(line)

    def check(self) -> None:
        """Raise RunLogError if the file was replaced or removed: further replies would be lost."""
        check_in_place(self._path, self._writer.fileno(), RunLogError)

    def close(self) -> None:
        self._writer.close()
        self._reader.close()

    def _index(self) -> int:
        """Find the positions of all replies, and return the end of the last complete line."""
        position = 0
        for line in self._reader:
            if not line.endswith(b"\n"):
                break
            try:
                self._places[bytes.fromhex(decode_line(line)["key"])] = (position, len(line))
            except (ValueError, KeyError, RecursionError):
                self.damaged += 1
            position += len(line)
        return position
