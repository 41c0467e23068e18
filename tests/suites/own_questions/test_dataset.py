"""Files of questions: formats, and mistakes that are named together with their places."""

from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
from graphwalk.suites.own_questions.dataset import Dataset

LINES = """\
{"question": "How heavy is the Tern?", "answer": 1264.5, "id": 7, "tags": ["a", "b"]}

{"question": "Who built the Tern?", "unanswerable": true, "tags": "a"}
{"question": "Shares?", "answer": [{"who": "Ida", "share": null}], "id": "x"}
"""
CSV = 'question,answer,id,tags,unanswerable\nHow heavy is the Tern?,1264.5,7,"a, b",\nWho built the Tern?,,,a,true\n'
WRONG = {
    '{"question": "Q"}': "line 1: no answer; give one of answer, cypher and unanswerable: true",
    '{"question": "Q", "answer": []}': "line 1: no answer; give one of",
    '{"question": "Q", "answer": 1, "unanswerable": true}': "line 1: two of answer, cypher and unanswerable: true; give",
    '{"question": "Q", "answr": 1}': "line 1: answr: there is no such field; did you mean answer?",
    '{"question": "", "answer": 1}': "line 1: question: String should have at least 1 character",
    '{"answer": 1}': "line 1: question: is missing",
    '{"question": "Q", "answer": ["a", {"b": 1}]}': "line 1: answer: expected a value, a list of values, or a list",
    '{"question": "Q", "answer": [{"a": 1}, {"b": 1}]}': "line 1: answer: expected a value",
    '{"question": "Q", "answer": [["a"]]}': "line 1: answer: expected a value",
    '{"question": "Q", "answer": 1' + "0" * 400 + "}": "line 1: answer: expected a value",
    '{"question": "Q", "answer": 1' + "0" * 5000 + "}": "line 1: not JSON: Exceeds the limit",
    '{"question": "Q", "answer"': "line 1: not JSON: Expecting ':' delimiter",
    "[" * 100_000: "not JSON",
    '"text"': "line 1: not a JSON object",
    '[{"question": "Q", "answer": 1}, 3]': "entry 2: not a JSON object",
    '{"question": "Q", "answer": 1}\n{"question": "Q", "answer": 2}': "line 2: repeats the question of line 1",
    '[{"question": "P", "answer": 1, "id": 1}, {"question": "Q", "answer": 2, "id": "1"}]': "entry 2: repeats the id of",
    "\n": "line 1: no question",
}


def read(folder: Path, text: str, name: str = "qa.jsonl") -> Dataset:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    dataset = Dataset(path)
    dataset.check()
    return dataset


@pytest.mark.parametrize("name", ["qa.jsonl", "qa.json", "qa.csv"])
def test_formats_hold_the_same_questions(tmp_path: Path, name: str) -> None:
    text = {"qa.json": "[" + ",\n".join(filter(None, LINES.splitlines())) + "]", "qa.csv": CSV}.get(name, LINES)
    heavy, built, *_ = read(tmp_path, "\ufeff" + text, name).questions.values()
    assert (heavy.rows, heavy.id, heavy.tags) == ([{"value": 1264.5}], "7", ("a", "b"))
    assert (built.rows, built.unanswerable, built.tags) == ([], True, ("a",))


@pytest.mark.parametrize("text", WRONG)
def test_mistake_is_named_with_its_place(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text, "qa.json" if text.startswith("[{") else "qa.jsonl")
    assert WRONG[text] in str(caught.value)


def test_many_mistakes_are_cut_and_reading_stops(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, '{"question": "a", "answr": 1}\n' * 50_000)
    assert "more than 20 mistakes" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 21


def test_file_with_more_rows_than_a_run_can_ask_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="more than 100,000 rows"):
        read(tmp_path, "question,answer\n" + "a,b\n" * 100_001, "qa.csv")
