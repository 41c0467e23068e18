"""Replies on disk, so that a call already paid for is never made again.

One line per reply (`graphwalk.jsonlines`), in the kernel's hands before the reply is used. The run folder lets in one
process at a time.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graphwalk.errors import RunLogError
from graphwalk.files import check_in_place
from graphwalk.jsonlines import decode_line, encode_line
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.wire import from_dict, to_dict


class ReplyCache:
    """The replies of one run by key. Only their places are kept in memory, not the replies.

    `damaged` counts lines that could not be read: their calls are made again. A torn last line is dropped.
    RunLogError if the file cannot be written.
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
        """Write a reply down, before it is used."""
        line = encode_line({"key": key, "reply": to_dict(reply)})
        try:
            self._writer.write(line)
            self._writer.flush()
        except OSError as error:
            raise RunLogError(f"the reply cache {self._path} cannot be written: {error.strerror}") from error
        self._places[bytes.fromhex(key)] = (self._end, len(line))
        self._end += len(line)

    def check(self) -> None:
        """RunLogError where the file is no longer the one at its path: replies would be paid for and lost."""
        check_in_place(self._path, self._writer.fileno(), RunLogError)

    def close(self) -> None:
        self._writer.close()
        self._reader.close()

    def _index(self) -> int:
        """Find the places of all replies; returns where the last whole line ends."""
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


class RequestKeys:
    """The cache keys of one episode's requests, in the order in which they are made.

    `episode_key` names the episode within the run (task, setting, repeat). The key of a request covers model,
    messages, tools, options, episode and position, so that nothing else ever gets its reply.
    """

    def __init__(self, model: str, episode_key: str) -> None:
        self._episode = hashlib.sha256(_canonical([model, episode_key]))
        self._digests: dict[Message, bytes] = {}
        self._tools: tuple[Sequence[ToolSpec], bytes] = ((), _digest([]))
        self._ordinal = 0

    def next(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> str:
        """SHA-256 (hex). Each message is written out once per episode: conversations are sent again and again."""
        sha = self._episode.copy()
        sha.update(_canonical([self._ordinal, asdict(options)]))
        self._ordinal += 1
        if tools is not self._tools[0]:
            self._tools = (tools, _digest([tool.as_openai() for tool in tools]))
        sha.update(self._tools[1])
        for message in messages:
            digest = self._digests.get(message)
            if digest is None:
                digest = self._digests[message] = _digest(to_dict(message))
            sha.update(digest)
        return sha.hexdigest()


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _digest(value: Any) -> bytes:
    return hashlib.sha256(_canonical(value)).digest()
