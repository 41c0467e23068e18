"""All that `make walking-results` does, with ten steps of each pupil and two questions. It needs torch."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the packages of `make training-setup`")


def tasks_in(chats: Path) -> set[str]:
    return {json.loads(line)["task_id"] for line in chats.read_text(encoding="utf-8").splitlines()}


def test_both_pupils_learn_ten_steps_and_are_tested_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from training.tiny import make_tiny
    from training.walk_or_read import main

    make_tiny(tmp_path / "tiny")
    pupils = tmp_path / "pupils"
    options = ["--graphs", 2, "--length", 12_288, "--tokens", 125_000, "--reply", 16, "--limit", 2, "--port", 0]
    words = [
        "walk_or_read",
        pupils,
        "--model",
        tmp_path / "tiny",
        "--full",
        *options,
        "--publish",
        tmp_path / "results",
    ]
    monkeypatch.setattr(sys, "argv", [str(word) for word in words])
    main()
    for pupil in ("walk-0", "read-0"):
        training = json.loads((pupils / f"taught-{pupil}" / "training.json").read_text())
        assert training["step"] >= 10
        assert (tmp_path / "results" / f"pupils-{pupil}.zip").exists()
    assert tasks_in(pupils / "walk" / "train.jsonl") == tasks_in(pupils / "read.jsonl")
    printed = capfd.readouterr().out
    assert "Pairwise differences" in printed
    assert "read-0" in printed
