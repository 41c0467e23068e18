"""Read a file of questions with answers: JSON Lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from graphwalk.config.strict import Strict
from graphwalk.config.yaml_files import in_words
from graphwalk.errors import ConfigError
from graphwalk.files.bulk import usable_rows
from graphwalk.types.values import SCALARS, Row

VALUE = "value"
"""Field of the rows of a target with single values."""


class OwnQuestion(Strict):
    """A question of the file, with exactly one of `answer`, `cypher` and `unanswerable`."""

    question: str = Field(min_length=1)
    answer: Any = None
    cypher: str | None = Field(default=None, min_length=1)
    unanswerable: bool = False
    id: str | None = Field(default=None, coerce_numbers_to_str=True)
    tags: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Row]:
        items = self.answer if isinstance(self.answer, list) else [] if self.answer is None else [self.answer]
        return [item if isinstance(item, dict) else {VALUE: item} for item in items]

    @model_validator(mode="after")
    def _check_answer(self) -> Self:
        if sum((bool(self.rows), self.cypher is not None, self.unanswerable)) != 1:
            raise ValueError("give one of answer, cypher and unanswerable: true")
        cells = [value for row in self.rows for value in row.values() if value is not None]
        plain = all(isinstance(value, SCALARS) and (isinstance(value, str) or abs(value) < 2**63) for value in cells)
        if not plain or len({tuple(row) for row in self.rows}) > 1:
            raise ValueError("answer: expected a value, a list of values, or a list of rows with the same fields")
        return self


def read_questions(path: Path) -> dict[int, OwnQuestion]:
    """Return the questions by line. Raise ConfigError for another ending, or with the lines that cannot be used."""
    if path.suffix.lower() != ".jsonl":
        raise ConfigError(f"{path.name}: expected a .jsonl file")
    questions, lines = dict[int, OwnQuestion](), dict[str, int]()
    for line, question in usable_rows(path, ("question",), _read_question):
        if (first := lines.setdefault(question.id or question.question, line)) != line:
            raise ConfigError(f"{path}: line {line} repeats the id or question of line {first}")
        questions[line] = question
    return questions


def _read_question(row: Mapping[str, Any], line: int) -> tuple[int, OwnQuestion]:
    try:
        return line, OwnQuestion.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        field = "".join(f"{part}: " for part in first["loc"][:1])
        raise ValueError(f"{field}{in_words(first, OwnQuestion)}") from error
