"""Logs of inspect_ai are compared like runs, and refused with words. inspect_ai's own error is the oracle."""

import json
import subprocess
import zlib
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
import zstandard
from scipy import stats

from graphwalk.errors import GraphwalkError
from graphwalk.runs.finished.inspect_logs import compare_logs
from tests.environments.test_packages import python_of

SPEC = {"task": "pack/quiz", "model": "m/one"}
FIRST = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1]
SECOND = [0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1]
CLUSTERS = "aabbbcccddee"
ORACLE = """
import json, sys
from inspect_ai.scorer import SampleScore, Score, stderr
values, clusters = json.load(sys.stdin)
scores = [SampleScore(score=Score(value=v), sample_metadata={"c": c}) for v, c in zip(values, clusters)]
print(stderr(cluster="c")(scores))
"""


def samples(values: list[Any], epochs: int = 1) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "epoch": epoch + 1,
            "target": "t",
            "metadata": {"c": CLUSTERS[number]},
            "scores": {"right": {"value": value}, "words": {"value": "long"}},
        }
        for number, value in enumerate(values)
        for epoch in range(epochs)
    ]


def log(path: Path, summaries: Any, *, zstd: bool = False, **header: Any) -> Path:
    files = {"header.json": {"version": 2, "eval": SPEC, **header}, "summaries.json": summaries}
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            raw = json.dumps(content).encode()
            if not zstd:
                archive.writestr(name, raw)
                continue
            info = ZipInfo(name)
            # Several frames, as inspect_ai writes long entries. The directory at the end has method and sizes.
            compress = zstandard.ZstdCompressor().compress
            archive.writestr(info, compress(raw[:20]) + compress(raw[20:]))
            info.compress_type, info.file_size, info.CRC = 93, len(raw), zlib.crc32(raw)
    return path


def pair(tmp_path: Path, first: list[Any], second: list[Any], **options: Any) -> dict[str, Any]:
    metrics = {"stderr": {"params": {"cluster": "c"}}}
    results = {"scores": [{"metrics": metrics}]}
    paths = [
        log(tmp_path / "a.eval", samples(first, 2), results=results, zstd=True),
        log(tmp_path / "b.eval", samples(second), results=results),
    ]
    (overall,) = compare_logs(paths, **options).overall
    assert [overall["first_model"], overall["second_model"]] == ["m/one @ a.eval", "m/one @ b.eval"]
    assert overall["first_setting"] == "quiz"
    measure: dict[str, Any] = overall["measures"]["right"]
    return measure


def test_differences_are_paired_by_sample_and_clustered_by_the_field_of_the_metrics(tmp_path: Path) -> None:
    measure = pair(tmp_path, FIRST, SECOND)
    assert measure["difference"] == pytest.approx((sum(FIRST) - sum(SECOND)) / len(FIRST), abs=1e-6)
    assert (measure["tasks"], measure["graphs"], measure["unit"]) == (12, 5, "graph")
    assert (measure["first_better"], measure["second_better"]) == (4, 1)


@pytest.mark.slow
def test_the_interval_has_the_clustered_error_of_inspect_ai(tmp_path: Path) -> None:
    low, high = pair(tmp_path, FIRST, SECOND)["interval"]
    differences = [one - other for one, other in zip(FIRST, SECOND, strict=True)]
    work = json.dumps([differences, list(CLUSTERS)])
    done = subprocess.run(
        [python_of("inspect"), "-c", ORACLE], input=work, capture_output=True, text=True, check=True, timeout=100
    )
    # Degrees of freedom for clusters of unequal size: docs/statistics.md, Estimates.
    clusters = len(CLUSTERS) ** 2 / sum(CLUSTERS.count(one) ** 2 for one in {*CLUSTERS})
    assert (high - low) / 2 / stats.t.ppf(0.975, clusters - 1) == pytest.approx(float(done.stdout), rel=1e-4)


@pytest.mark.parametrize(
    ("first", "second", "better"),
    [
        (["C", "I", "P"] * 4, ["I", "I", "N"] * 4, 8),
        ([{"right": True, "more": 1.0}] * 12, [{"right": False, "more": 1.0}] * 12, 12),
        ([7.5] * 12, [2, *[7.5] * 11], 1),
    ],
)
def test_letters_fields_and_amounts_are_numbers(tmp_path: Path, first: Any, second: Any, better: int) -> None:
    assert pair(tmp_path, first, second)["first_better"] == better


def test_logs_of_two_models_have_their_names_alone(tmp_path: Path) -> None:
    other = {**SPEC, "model": "m/two"}
    paths = [log(tmp_path / "a.eval", samples(FIRST)), log(tmp_path / "b.eval", samples(SECOND), eval=other)]
    comparison = compare_logs(paths)
    (overall,) = comparison.overall
    assert [overall["first_model"], overall["second_model"]] == ["m/one", "m/two"]
    assert overall["measures"]["right"]["unit"] == "question"
    assert "--cluster" in comparison.notes[0]


def test_logs_in_json_are_like_those_in_archives(tmp_path: Path) -> None:
    path, failed = tmp_path / "b.json", {**samples([1])[0], "id": 12, "scores": None, "error": {"message": "x"}}
    path.write_text(json.dumps({"version": 2, "eval": SPEC, "samples": [*samples(SECOND), failed]}))
    (overall,) = compare_logs([log(tmp_path / "a.eval", samples(FIRST)), path]).overall
    measure = overall["measures"]["right"]
    assert (measure["tasks"], measure["first_better"], measure["second_better"]) == (12, 4, 1)


NAMELESS = [{name: value for name, value in one.items() if name != "id"} for one in samples(FIRST)]


@pytest.mark.parametrize(
    ("summaries", "header", "options", "words"),
    [
        (samples(FIRST), {"version": 3}, {}, r"b\.eval: version: must be 2, not 3"),
        (NAMELESS[:2], {}, {}, r"samples\.0\.id: is missing\n.*: samples\.1\.id: is missing"),
        ([{**one, "id": f"x{one['id']}"} for one in samples(FIRST)], {}, {}, "share no sample id"),
        ([{**one, "target": "u"} for one in samples(FIRST)], {}, {}, "other targets for 12 samples: 0, 1"),
        (samples(["long"] * 12), {}, {}, "no numeric score in all logs"),
        (samples(FIRST), {}, {"score": "wrong"}, "--score: no numeric score 'wrong'"),
        (samples(FIRST), {}, {"cluster": "k"}, "no 'k' in the metadata of sample 0"),
        (samples(FIRST), {}, {"models": ["m/three"]}, "no model 'm/three'"),
        ([], {"eval": None}, {}, "eval: "),
        ("text", {}, {}, "samples: "),
    ],
)
def test_mistakes_in_logs_are_named(tmp_path: Path, summaries: Any, header: Any, options: Any, words: str) -> None:
    paths = [log(tmp_path / "a.eval", samples(FIRST)), log(tmp_path / "b.eval", summaries, **header)]
    with pytest.raises(GraphwalkError, match=words):
        compare_logs(paths, **options)


def test_damaged_files_and_runs_among_logs_are_refused(tmp_path: Path) -> None:
    whole = log(tmp_path / "a.eval", samples(FIRST), zstd=True)
    damaged, empty, text = (tmp_path / f"{name}.eval" for name in ("damaged", "empty", "text"))
    damaged.write_bytes(whole.read_bytes()[:50] + b"\0" * 40 + whole.read_bytes()[90:])
    ZipFile(empty, "w").close()
    text.write_text("{}")
    cases = {
        damaged: "zstd decompress error",
        empty: "no item named 'header.json'",
        text: "not a zip file",
        tmp_path: "Is a directory",
        tmp_path / "missing.eval": "No such file",
    }
    for path, words in cases.items():
        with pytest.raises(GraphwalkError, match=words):
            compare_logs([whole, path])
