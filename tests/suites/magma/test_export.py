"""Exported chats: their form, what a model would learn from them, and the proof that splits share nothing."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.suites.magma.answers import read_answer
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.magma.export import STRATEGIES, Verification, chat, export_magma, verify_export
from graphwalk.suites.magma.generate import ALGORITHMS, make_traces
from graphwalk.suites.magma.score import judge

SPECS = [
    MagmaSpec(algorithm=algorithm, nodes=nodes, count=count, split=split)  # type: ignore[arg-type]
    for algorithm in ALGORITHMS
    for nodes in (5, 7)
    for split, count in (("train", 8), ("validation", 1), ("test", 2))
]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_answer_of_a_chat_scores_full_marks(algorithm: str, strategy: str) -> None:
    spec = MagmaSpec(algorithm=algorithm, nodes=7, count=3, split="train")  # type: ignore[arg-type]
    for trace in make_traces(spec, 1):
        answers = [message.content or "" for message in chat(trace, strategy) if message.role == "assistant"]
        golds = [step.answer for step in trace.steps] if strategy in ("is", "ish") else [trace.final]
        for answer, gold in zip(answers, golds, strict=True):
            assert judge(algorithm, 1, read_answer(algorithm, answer).answer, gold).exact


def test_one_file_per_split_algorithm_size_and_strategy(tmp_path: Path) -> None:
    manifest = export_magma(SPECS, tmp_path / "out", seed=1)
    assert len(manifest["files"]) == len(SPECS) * 4
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"manifest.json", *(entry["file"] for entry in manifest["files"])}
    found = verify_export(tmp_path / "out")
    assert found.chats == {"train": 8 * 40, "validation": 40, "test": 2 * 40}
    # Dijkstra and Prim get the same graphs, weights and sources: four kinds of data points at two sizes.
    assert found.data_points == {"train": 8 * 8, "validation": 8, "test": 2 * 8}


def test_mixed_files_hold_the_same_chats(tmp_path: Path) -> None:
    apart = export_magma(SPECS, tmp_path / "apart", seed=1, strategies=["io", "is"])
    mixed = export_magma(SPECS, tmp_path / "mixed", seed=1, strategies=["io", "is"], mixed=True)
    assert [entry["file"] for entry in mixed["files"]] == ["train.jsonl", "validation.jsonl", "test.jsonl"]
    train = [line for e in apart["files"] if e["split"] == "train" for line in lines(tmp_path / "apart" / e["file"])]
    shuffled = lines(tmp_path / "mixed" / "train.jsonl")
    assert shuffled != train
    assert sorted(map(json.dumps, shuffled)) == sorted(map(json.dumps, train))
    assert verify_export(tmp_path / "apart") == verify_export(tmp_path / "mixed")


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        export_magma(SPECS[:3], tmp_path / name, seed=seed, mixed=True)
    a, b, c = ((tmp_path / name / "train.jsonl").read_bytes() for name in "abc")
    assert a == b != c


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown strategy cot"):
        export_magma(SPECS, tmp_path, seed=1, strategies=["cot"])
    with pytest.raises(ConfigError, match="two exports have the same file name train-bfs-n5-io"):
        export_magma([SPECS[0], SPECS[0]], tmp_path / "twice", seed=1, strategies=["io"])
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="not an empty folder"):
        export_magma(SPECS, tmp_path, seed=1)


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    export_magma(SPECS[:3], tmp_path, seed=1, strategies=["is"], mixed=True)
    return tmp_path


def rewrite(folder: Path, name: str, text: str) -> None:
    """Change a file and make the manifest agree, as a cheat would."""
    (folder / name).write_text(text)
    manifest = json.loads((folder / "manifest.json").read_text())
    for entry in manifest["files"]:
        if entry["file"] == name:
            entry |= {"chats": len(text.splitlines()), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_test_chat_in_the_training_file_is_found(exported: Path) -> None:
    assert verify_export(exported) == Verification(*[{"train": 8, "validation": 1, "test": 2}] * 3)
    train, test = ((exported / f"{split}.jsonl").read_text() for split in ("train", "test"))
    rewrite(exported, "train.jsonl", train + test.splitlines()[0] + "\n")
    with pytest.raises(ConfigError, match=r"share 1 chat: .*train.jsonl:9 and .*test.jsonl:1"):
        verify_export(exported)


def test_a_chat_that_stands_there_twice_is_found(exported: Path) -> None:
    text = (exported / "train.jsonl").read_text()
    rewrite(exported, "train.jsonl", text + text.splitlines()[2] + "\n")
    with pytest.raises(ConfigError, match=r"repeated chat: .*train.jsonl:3 and .*train.jsonl:9"):
        verify_export(exported)


def test_the_same_graph_with_another_source_is_found(exported: Path) -> None:
    train, test = ((exported / f"{split}.jsonl").read_text() for split in ("train", "test"))
    line = test.splitlines()[0]
    source = line.split("Source: ")[1][0]
    other = line.replace(f"Source: {source}", f"Source: {(int(source) + 1) % 5}")
    rewrite(exported, "train.jsonl", train + other + "\n")
    with pytest.raises(ConfigError, match=r"train and test share 1 graph: .*train.jsonl:9 and .*test.jsonl:1"):
        verify_export(exported)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not a chat"),
        ("[]", "not a chat"),
        ('{"messages": []}', "not a chat of system"),
        (
            '{"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]}',
            "not a chat of system",
        ),
        ('{"messages": [], "id": 1}', "not a chat of system"),
        (
            json.dumps({"messages": [{"role": r, "content": "Edges: []"} for r in ("system", "user", "assistant")]}),
            "no graph in the problem statement",
        ),
    ],
)
def test_lines_that_are_no_chats(exported: Path, line: str, message: str) -> None:
    rewrite(exported, "validation.jsonl", line + "\n")
    with pytest.raises(ConfigError, match=rf"validation\.jsonl:1: {message}"):
        verify_export(exported)


def test_files_that_are_not_what_the_manifest_says(exported: Path) -> None:
    file = exported / "train.jsonl"
    text = file.read_text()
    file.write_text(text.replace("Source: ", "Source: 1", 1))
    with pytest.raises(ConfigError, match="digest"):
        verify_export(exported)
    file.unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        verify_export(exported)
    (exported / "manifest.json").write_text("{}")
    with pytest.raises(ConfigError, match="not the manifest"):
        verify_export(exported)
