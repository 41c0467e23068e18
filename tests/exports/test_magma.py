"""Exported chats: their form, what a model would learn from them, and the proof that splits share nothing."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import experiment_from
from graphwalk.experiments.protocols import apply_protocol
from graphwalk.exports.magma import STRATEGIES, chat, export_magma
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.magma.answers import read_answer
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.magma.generate import ALGORITHMS, make_traces
from graphwalk.suites.magma.prompts import read_problem
from graphwalk.suites.magma.score import judge
from graphwalk.suites.magma.suite import MagmaSuite

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
        for answer, target in zip(answers, golds, strict=True):
            assert judge(algorithm, read_answer(algorithm, answer), target).correct


def test_one_file_per_split_algorithm_size_and_strategy(tmp_path: Path) -> None:
    manifest = export_magma(SPECS, tmp_path / "out", seed=1)
    assert len(manifest["files"]) == len(SPECS) * 4
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"manifest.json", *(entry["file"] for entry in manifest["files"])}
    chats: Counter[str] = Counter()
    graphs: dict[str, set[object]] = {"train": set(), "validation": set(), "test": set()}
    for entry in manifest["files"]:
        for line in lines(tmp_path / "out" / entry["file"]):
            chats[entry["split"]] += 1
            instance = read_problem(line["messages"][1]["content"], entry["n"])
            assert instance is not None
            graphs[entry["split"]].add((instance.n, instance.edges))
    assert chats == {"train": 8 * 40, "validation": 40, "test": 2 * 40}
    assert all(one.isdisjoint(other) for one, other in combinations(graphs.values(), 2))


def test_mixed_files_hold_the_same_chats_and_the_same_seed_the_same_bytes(tmp_path: Path) -> None:
    apart = export_magma(SPECS, tmp_path / "apart", seed=1, strategies=["io", "is"])
    mixed = export_magma(SPECS, tmp_path / "mixed", seed=1, strategies=["io", "is"], mixed=True)
    assert [entry["file"] for entry in mixed["files"]] == ["train.jsonl", "validation.jsonl", "test.jsonl"]
    train = [line for e in apart["files"] if e["split"] == "train" for line in lines(tmp_path / "apart" / e["file"])]
    shuffled = lines(tmp_path / "mixed" / "train.jsonl")
    assert shuffled != train
    assert sorted(map(json.dumps, shuffled)) == sorted(map(json.dumps, train))
    for name, seed in (("again", 1), ("other", 2)):
        export_magma(SPECS, tmp_path / name, seed=seed, strategies=["io", "is"], mixed=True)
    mixed_bytes, again, other = ((tmp_path / name / "train.jsonl").read_bytes() for name in ("mixed", "again", "other"))
    assert mixed_bytes == again != other


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_chats_of_a_protocol_have_the_prompts_of_a_run(tmp_path: Path, algorithm: str, strategy: str) -> None:
    spec = MagmaSpec(algorithm=algorithm, nodes=6, count=2, split="test")  # type: ignore[arg-type]
    for protocol in ("paper", "graphwalk"):
        export_magma([spec], tmp_path / protocol, seed=4, strategies=[strategy], protocol=protocol)
        data: dict[str, Any] = {"name": "run", "seed": 4, "protocol": protocol}
        data["suite"] = {"name": "magma", "traces": [{"algorithm": algorithm, "nodes": 6, "count": 2}]}
        apply_protocol(data)
        config, suite = experiment_from(data, "test"), MagmaSuite()
        chats = lines(tmp_path / protocol / f"test-{algorithm}-n6-{strategy}.jsonl")
        for line, instance in zip(chats, suite.graphs(config.suite, 4), strict=True):
            about = LoadedGraph(instance)
            task = (await suite.tasks(about, config.suite, 4, config.agent)).asked[-1]
            prompt = (await task.prompt(about, strategy, config.agent)).messages
            assert line["messages"][:-1] == [{"role": one.role, "content": one.content} for one in prompt]
    read = [(tmp_path / name / f"test-{algorithm}-n6-{strategy}.jsonl").read_text() for name in ("paper", "graphwalk")]
    assert read[0] != read[1]
    assert json.loads((tmp_path / "paper" / "manifest.json").read_text())["protocol"] == "paper"


def test_export_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown strategy cot"):
        export_magma(SPECS, tmp_path, seed=1, strategies=["cot"])
    with pytest.raises(ConfigError, match="two exports have the same file name train-bfs-n5-io"):
        export_magma([SPECS[0], SPECS[0]], tmp_path / "twice", seed=1, strategies=["io"])
    with pytest.raises(ConfigError, match="there is no protocol 'papers'"):
        export_magma(SPECS, tmp_path / "papers", seed=1, protocol="papers")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="is not empty"):
        export_magma(SPECS, tmp_path, seed=1)
