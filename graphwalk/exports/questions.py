"""Questions with the answers of a model, as a file of your own questions to review."""

import json
from pathlib import Path

from graphwalk.errors import ConfigError
from graphwalk.exports.episodes import Episodes
from graphwalk.files.writing import write_whole
from graphwalk.suites.ask.evidence import cited_keys
from graphwalk.suites.own_questions.dataset import VALUE


def export_questions(episodes: Episodes, out: Path) -> None:
    """Write questions with a model's answers for own-questions, tagged as unreviewed.

    An answer in words becomes the keys that it cites, or its text. Review all answers before you use the file.
    """
    lines: dict[str, str] = {}
    for result in episodes:
        answer = result.answer
        if isinstance(answer, str):
            answer = [*cited_keys(answer)] or " ".join(answer.split())
        elif answer:
            answer = [row[VALUE] if isinstance(row, dict) and row.keys() == {VALUE} else row for row in answer]
        if answer:
            line = {"question": result.task["question"], "answer": answer, "tags": ["unreviewed"]}
            lines.setdefault(result.task["question"], json.dumps(line, ensure_ascii=False) + "\n")
    if not lines:
        raise ConfigError(f"{episodes.folder.path}: no question has an answer", hint="graphwalk report lists them")
    write_whole(out, lines.values())
