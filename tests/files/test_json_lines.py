import asyncio
import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.errors import RunLogError
from graphwalk.files import json_lines as jsonlines
from graphwalk.files.json_lines import LineWriter, TornTailWarning, decode_line, encode_line, read_lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def write(path: Path, records: list[dict[str, Any]]) -> None:
    writer = LineWriter(path)
    for record in records:
        writer.append(record)
    writer.close()


@given(st.dictionaries(st.text(min_size=1), JSON, min_size=1))
def test_a_line_is_valid_json_and_reads_back(record: dict[str, Any]) -> None:
    line = encode_line(record)
    assert line.count(b"\n") == 1
    assert decode_line(line) == record
    assert {k: v for k, v in json.loads(line).items() if k != "crc32"} == {
        k: v for k, v in record.items() if k != "crc32"
    }


def test_surrogates_and_nan_are_logged_as_strict_json() -> None:
    line = encode_line({"text": "\ud800 \x00 \u202e", "values": [float("nan"), float("inf"), 10**400]})
    read = decode_line(line)
    assert read["text"] == "\ud800 \x00 \u202e"
    assert read["values"] == ["nan", "inf", 10**400]
    json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_a_tail_cut_at_any_byte_is_dropped_with_a_warning_and_written_over(tmp_path: Path) -> None:
    records = [{"n": 1}, {"n": 2, "text": "zwei"}]
    whole = b"".join(map(encode_line, records))
    first = len(encode_line(records[0]))
    for cut in range(first + 1, len(whole)):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut])
        with pytest.warns(TornTailWarning, match="line 2"):
            assert list(read_lines(path)) == records[:1]
        write(path, [{"n": 3}])
        assert list(read_lines(path)) == [{"n": 1}, {"n": 3}]


def test_a_flipped_bit_anywhere_is_never_silent(tmp_path: Path) -> None:
    whole = b"".join(encode_line({"n": n, "text": "abc"}) for n in range(3))
    second = range(len(encode_line({"n": 0, "text": "abc"})), 2 * len(encode_line({"n": 0, "text": "abc"})))
    path = tmp_path / "log.jsonl"
    for position in second:
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[position] ^= 1 << bit
            path.write_bytes(bytes(damaged))
            with pytest.raises(RunLogError, match=r"log\.jsonl:[23]: "):
                list(read_lines(path))


async def test_a_line_is_written_before_append_returns_and_synced_within_half_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "log.jsonl", asyncio.Queue[bytes]()

    def fsync(number: int) -> None:
        assert os.path.samestat(os.fstat(number), path.stat())
        synced.put_nowait(path.read_bytes())

    writer = LineWriter(path)
    monkeypatch.setattr(os, "fsync", fsync)
    assert jsonlines._SYNC_SECONDS == 0.5
    for number in range(2):
        writer.append({"n": number})
        content = path.read_bytes()
        assert content.endswith(encode_line({"n": number}))
        assert synced.empty()
        assert await asyncio.wait_for(synced.get(), 60) == content, "without a further line"
    writer.append({"n": 2})
    writer.close()
    assert synced.get_nowait() == path.read_bytes()


@pytest.mark.parametrize("cause", [errno.EIO, errno.ENOSPC])
def test_nothing_is_written_after_a_failed_flush(cause: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[int]()

    def failing(number: int) -> None:
        calls.append(number)
        raise OSError(cause, os.strerror(cause))

    path = tmp_path / "log.jsonl"
    writer = LineWriter(path)
    writer.append({"n": 1})
    content = path.read_bytes()
    monkeypatch.setattr(os, "fsync", failing)
    for call in (writer.sync, lambda: writer.append({"n": 2}), writer.sync, writer.close):
        with pytest.raises(RunLogError, match=os.strerror(cause)) as raised:
            call()
        assert raised.value.hint
    assert len(calls) == 1, "a second flush would succeed without the lost lines"
    assert path.read_bytes() == content
