"""Files of questions, and mistakes that are named with their lines."""

from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
from graphwalk.suites.own_questions.targets import OwnQuestion, read_questions

LINES = """\
{"question": "How heavy is the Tern?", "answer": 1264.5, "id": 7, "tags": ["a", "b"]}

{"question": "Who built the Tern?", "unanswerable": true, "tags": ["a"]}
{"question": "Shares?", "answer": [{"who": "Ida", "share": null}], "id": "x"}
"""
ONE_OF = "give one of answer, cypher and unanswerable: true"
WRONG = {
    '{"question": "Q"}': f"row 1: {ONE_OF}",
    '{"question": "Q", "answer": 1, "unanswerable": true}': f"row 1: {ONE_OF}",
    '{"question": "Q", "answr": 1}': "row 1: answr: there is no such field; did you mean answer?",
    '{"question": "", "answer": 1}': "row 1: question: String should have at least 1 character",
    '{"answer": 1}': "row 1: missing column question",
    '{"question": "Q", "answer": ["a", {"b": 1}]}': "row 1: answer: expected a value, a list of values, or a list",
    '{"question": "Q", "answer": [{"a": 1}, {"b": 1}]}': "row 1: answer: expected a value",
    '{"question": "Q", "answer": 1' + "0" * 5000 + "}": "row 1: not JSON: Exceeds the limit",
    '{"question": "Q", "answer"': "row 1: not JSON: Expecting ':' delimiter",
    '{"question": "Q", "answer": 1}\n{"question": "Q", "answer": 2}': "line 2 repeats the id or question of line 1",
    "\n": "no row is left",
}


def read(folder: Path, text: str) -> dict[int, OwnQuestion]:
    path = folder / "qa.jsonl"
    path.write_text(text, encoding="utf-8")
    return read_questions(path)


def test_questions_are_read_with_their_lines(tmp_path: Path) -> None:
    questions = read(tmp_path, "\ufeff" + LINES)
    assert list(questions) == [1, 3, 4]
    heavy, built, _ = questions.values()
    assert (heavy.rows, heavy.id, heavy.tags) == ([{"value": 1264.5}], "7", ("a", "b"))
    assert (built.rows, built.unanswerable, built.tags) == ([], True, ("a",))


@pytest.mark.parametrize("text", WRONG)
def test_mistake_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert WRONG[text] in str(caught.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"qa.csv: expected a \.jsonl file"):
        read_questions(tmp_path / "qa.csv")
