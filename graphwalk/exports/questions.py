"""Questions with the answers of a model, as a file of your own questions to review."""

import json
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.exports.episodes import Episodes
from graphwalk.files.writing import write_whole
from graphwalk.runs.result import Result
from graphwalk.suites.ask.task import cited_keys

UNREVIEWED = "unreviewed"
"""Tag of an answer that a model gave."""


def export_questions(episodes: Episodes, out: Path) -> None:
    """Write questions with the model's answers for own-questions, tagged as unreviewed.

    Of an answer in words they have the keys that it cites, else its text. Review each answer before you use the file.
    """
    if episodes.suite.name not in ("ask", "own_questions", "questions"):
        raise ConfigError(f"{episodes.folder.path}: the suite {episodes.suite.name} asks no questions about a graph")
    lines: dict[str, str] = {}
    for result in episodes:
        answer = _answer(result)
        if answer:
            line = {"question": result.task["question"], "answer": answer, "tags": [UNREVIEWED]}
            lines.setdefault(result.task["question"], json.dumps(line, ensure_ascii=False) + "\n")
    if not lines:
        raise ConfigError(f"{episodes.folder.path}: no question has an answer", hint="graphwalk report lists them")
    write_whole(out, lines.values())


def _answer(result: Result) -> Any:
    if not isinstance(result.answer, str):
        return result.answer
    return [*cited_keys(result.answer)] or " ".join(result.answer.split())
