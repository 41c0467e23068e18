"""Read a file of questions with answers: JSON Lines, a JSON list, or CSV."""

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from graphwalk.config.strict import Strict
from graphwalk.config.yaml_files import in_words
from graphwalk.errors import ConfigError, counted
from graphwalk.evaluation.values import parse_json
from graphwalk.files.bulk import MOST_LISTED, read_rows
from graphwalk.types.values import SCALARS, Row

MOST_ROWS = 100_000
VALUE = "value"
"""Field of the rows of a target with single values."""
Tags = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda tags: [tag.strip() for tag in tags.split(",")] if isinstance(tags, str) else tags),
]


class OwnQuestion(Strict):
    """A question of the file. With both `answer` and `cypher`, the rows of the query are the target."""

    question: str = Field(min_length=1)
    answer: Any = None
    cypher: str | None = Field(default=None, min_length=1)
    unanswerable: bool = False
    id: str | None = Field(default=None, coerce_numbers_to_str=True)
    tags: Tags = ()

    @property
    def rows(self) -> list[Row]:
        items = self.answer if isinstance(self.answer, list) else [] if self.answer in (None, "") else [self.answer]
        return [item if isinstance(item, dict) else {VALUE: item} for item in items]

    @model_validator(mode="after")
    def _check_answer(self) -> Self:
        if self.unanswerable == bool(self.rows or self.cypher):
            ways = "answer, cypher and unanswerable: true"
            raise ValueError(f"two of {ways}; give one" if self.unanswerable else f"no answer; give one of {ways}")
        cells = [value for row in self.rows for value in row.values() if value is not None]
        plain = all(isinstance(value, SCALARS) and (isinstance(value, str) or abs(value) < 2**63) for value in cells)
        if not plain or len({tuple(row) for row in self.rows}) > 1:
            raise ValueError("answer: expected a value, a list of values, or a list of rows with the same fields")
        return self


class Dataset:
    """Questions of a file by their places, and its mistakes, to which `tasks_about` adds those of targets.

    Raise ConfigError if the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        ending = path.suffix.lower()
        self.path, self.unit = path, "entry" if ending == ".json" else "line"
        self.questions: dict[int, OwnQuestion] = {}
        self.mistakes: list[tuple[int, str]] = []
        self._places: dict[str, int] = {}
        rows = list(islice(read_rows(path, endings=(".jsonl", ".json", ".csv")), MOST_ROWS + 1))
        if len(rows) > MOST_ROWS:
            raise ConfigError(f"{path}: more than {MOST_ROWS:,} rows", hint="divide the file, one run for each part")
        convert = _from_csv if ending == ".csv" else dict
        for place, row in rows:
            if len(self.mistakes) > MOST_LISTED:
                break
            if isinstance(row, str):
                self.mistakes.append((place, row))
            else:
                self._add(place, row, convert)

    def _add(self, place: int, row: Mapping[str, Any], convert: Callable[[Mapping[str, Any]], Row]) -> None:
        try:
            question = OwnQuestion.model_validate(convert(row))
        except ConfigError as error:
            self.mistakes.append((place, str(error)))
            return
        except ValidationError as error:
            for one in error.errors():
                field = "".join(f"{part}: " for part in one["loc"][:1])
                self.mistakes.append((place, f"{field}{in_words(one, OwnQuestion)}"))
            return
        what = "id" if question.id else "question"
        first = self._places.setdefault(getattr(question, what), place)
        if first != place:
            self.mistakes.append((place, f"repeats the {what} of {self.unit} {first}"))
        self.questions[place] = question

    def check(self) -> None:
        """Raise ConfigError with the mistakes; of many with the first ones."""
        mistakes = self.mistakes if self.questions or self.mistakes else [(1, "no question")]
        lines = [f"  {self.unit} {place}: {text}" for place, text in sorted(mistakes)]
        if lines:
            head = f"{self.path}: {'more than ' * (len(lines) > MOST_LISTED)}"
            lines = [f"{head}{counted(min(len(lines), MOST_LISTED), 'mistake')}", *lines[:MOST_LISTED]]
            raise ConfigError("\n".join(lines), hint="docs/own_graph.md shows the format of the file")


def _from_csv(cells: Mapping[str, Any]) -> Row:
    """Return the fields without empty cells; an answer may be JSON."""
    fields = {name: cell for name, cell in cells.items() if cell}
    answer = parse_json(fields.get("answer", ""))
    return fields if answer is None else {**fields, "answer": answer}
