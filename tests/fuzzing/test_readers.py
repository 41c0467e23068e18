"""Every reader of files: a right result or a clear error, whatever is in the file; never a traceback, a hang, a GB."""

import json
import random
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.report.report import report_of
from graphwalk.errors import GraphwalkError
from graphwalk.files.json_lines import encode_line
from graphwalk.graphs.files import load_graph, save_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.runs.experiment import load_experiment, shipped_experiments
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.listing import list_runs

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphwalk.files.json_lines.TornTailWarning"),
]
ROUNDS = 40
SECONDS, MEGABYTES = 10, 1000
RUNS = Path(__file__).parents[1] / "data" / "runs"
Read = Callable[[Path], object]


PIECES = [b"", b"\x00", b"\xff", b'"', b"'", b"`", b"{", b"[", b"<", b"&a;", b"\\", b"\n", b",", b":", b"- ", b"? "]
PIECES += [b"1e999", b"9" * 5000, b"null", b"$date", b"gw_", b"[" * 2000, b"\xe2\x80\xae", b"\x1b[2J"]
PIECES += [b"!!python/object:os.system ", b"*a"]
VALUES: list[Any] = [None, True, -1, 10**30, 1.5, float("nan"), "", "x" * 5000, "\x1b[2J", "gw_0", "\ud800"]
VALUES += [[], [[]], {}, {"a": 1}]


def damaged(text: bytes, draw: random.Random) -> bytes:
    """The file with up to three cuts, doublings or insertions."""
    for _ in range(draw.randint(1, 3)):
        start = draw.randrange(len(text) + 1)
        end = min(len(text), start + draw.choice([0, 1, 5, 200]))
        piece = draw.choice([*PIECES, text[start:end] * 2, text[:20]])
        text = text[:start] + piece + (b"" if draw.random() < 0.1 else text[end:])
    return text


def altered(value: Any, draw: random.Random) -> Any:
    """The JSON value with one part of it, at whatever depth, gone or replaced."""
    if not isinstance(value, dict | list) or not value or draw.random() < 0.1:
        return draw.choice(VALUES)
    key = draw.choice(list(value) if isinstance(value, dict) else range(len(value)))
    copy = value.copy()
    if draw.random() < 0.2:
        del copy[key]
    else:
        copy[key] = altered(value[key], draw)
    return copy


def small() -> PropertyGraph:
    """A part of the graph that ships, with values of many kinds."""
    whole = load_graph("example")
    nodes = list(whole.nodes())[::6]
    keys = {node.key for node in nodes}
    return PropertyGraph.from_rows(nodes, [r for r in whole.relationships() if {r.source, r.target} <= keys])


def graph_file(suffix: str) -> Callable[[Path], tuple[Path, Read]]:
    def made(folder: Path) -> tuple[Path, Read]:
        path = folder / f"g{suffix}"
        save_graph(small(), path)
        return path, load_graph

    return made


def csv_file(pattern: str) -> Callable[[Path], tuple[Path, Read]]:
    def made(folder: Path) -> tuple[Path, Read]:
        save_graph(small(), folder / "g")
        return sorted((folder / "g").glob(pattern))[0], lambda file: load_graph(file.parent)

    return made


def experiment_file(folder: Path) -> tuple[Path, Read]:
    path = folder / "mine.yaml"
    shutil.copyfile(shipped_experiments()["quickstart"], path)
    return path, lambda file: load_experiment(str(file))


def run_file(name: str) -> Callable[[Path], tuple[Path, Read]]:
    def read(file: Path) -> None:
        list(list_runs(file.parent))
        report_of(RunFolder.open(file.parent))

    return lambda folder: (Path(shutil.copytree(RUNS / "mazes", folder / "run")) / name, read)


FILES = {
    "json": graph_file(".json"),
    "graphml": graph_file(".graphml"),
    "nodes.csv": csv_file("nodes-*.csv"),
    "relationships.csv": csv_file("relationships-*.csv"),
    "experiment": experiment_file,
    "run.json": run_file("run.json"),
    "results.jsonl": run_file("results.jsonl"),
}


@contextmanager
def bounded() -> Iterator[None]:
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    yield
    assert time.process_time() - begun < SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES


@pytest.mark.parametrize("name", FILES)
def test_damaged_bytes(name: str, tmp_path: Path) -> None:
    path, read = FILES[name](tmp_path)
    valid, draw = path.read_bytes(), random.Random(name)
    read(path)
    refused = 0
    for _ in range(ROUNDS):
        path.write_bytes(damaged(valid, draw))
        with bounded():
            try:
                read(path)
            except GraphwalkError:
                refused += 1
    assert refused > ROUNDS / 20


@pytest.mark.extended
@pytest.mark.parametrize("name", ["json", "run.json", "results.jsonl"])
def test_valid_json_of_another_form(name: str, tmp_path: Path) -> None:
    """Checksums are right, fields are not."""
    path, read = FILES[name](tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines() if name == "results.jsonl" else []
    valid = [json.loads(line) for line in lines] or [json.loads(path.read_text(encoding="utf-8"))]
    draw = random.Random(name)
    for _ in range(ROUNDS):
        records = valid.copy()
        place = draw.randrange(len(records))
        records[place] = altered(records[place], draw)
        with suppress(AttributeError, TypeError):  # a line is an object
            if lines:
                path.write_bytes(b"".join(encode_line({k: v for k, v in r.items() if k != "crc32"}) for r in records))
            else:
                path.write_text(json.dumps(records[0]), encoding="utf-8")
        with bounded(), suppress(GraphwalkError):
            read(path)
