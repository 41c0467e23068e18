"""The replies of a run on disk, so that a resumed run does not ask for them again."""

from pathlib import Path

from graphwalk.errors import ModelError, RunLogError
from graphwalk.files.json_lines import LineWriter, decode_line, encode_line
from graphwalk.types.chat import Reply
from graphwalk.types.wire import from_dict, to_dict


class ReplyCache:
    """The replies of one run on disk, one line each; memory holds only their positions in the file.

    The lock of the run folder admits one process at a time. An incomplete last line is removed. Raise RunLogError if
    the file is damaged elsewhere, or cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self._places: dict[bytes, tuple[int, int]] = {}
        self._end = 0
        try:
            path.touch()
            self._reader = path.open("rb")
        except OSError as error:
            raise RunLogError(f"the reply cache {path} cannot be opened: {error.strerror}") from error
        for number, line in enumerate(self._reader, 1):
            if not line.endswith(b"\n"):
                break
            try:
                self._note(decode_line(line)["key"], line)
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                self._reader.close()
                hint = "restore the file from a copy, or remove it: its replies are then asked for again"
                raise RunLogError(f"{path}:{number}: the line is damaged ({error})", hint=hint) from error
        self._writer = LineWriter(path)

    def _note(self, key: str, line: bytes) -> None:
        """Note the position of the next line."""
        self._places[bytes.fromhex(key)] = (self._end, len(line))
        self._end += len(line)

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
        self._note(key, line)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
