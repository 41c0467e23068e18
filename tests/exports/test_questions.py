"""Runs as files of own questions, which are marked as unreviewed."""

import json
from pathlib import Path

from tests.cli.test_commands import graphwalk


def test_conversation_becomes_questions_to_review(tmp_path: Path) -> None:
    question = "Who owns Sea Holly?"
    words = ("ask", question, "--graph", "example", "-m", "scripted/look", "--out", "run")
    assert graphwalk(*words, folder=tmp_path).returncode == 0
    assert graphwalk("export", "questions", "run", "--out", "qa.jsonl", folder=tmp_path).returncode == 0
    line = json.loads((tmp_path / "qa.jsonl").read_text(encoding="utf-8"))
    assert (line["question"], line["tags"]) == (question, ["unreviewed"])
    assert "Quill Trading" in line["answer"]
    done = graphwalk("run", "own-questions", "--dataset", "qa.jsonl", "--out", "again", folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_run_without_answers_is_an_error(tmp_path: Path) -> None:
    words = ("run", "own-questions", "--out", "run", "-o", "agent.turn_limit=1", "--limit", "1")
    assert graphwalk(*words, folder=tmp_path).returncode == 0
    done = graphwalk("export", "questions", "run", "--out", "qa.jsonl", folder=tmp_path)
    assert done.returncode == 2
    assert "no question has an answer" in done.stderr
