"""Read a file of questions with answers: JSON lines, a JSON list, CSV, or CypherBench (arXiv 2412.18702)."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from graphwalk.config.strict import Strict
from graphwalk.config.yaml_files import in_words
from graphwalk.errors import ConfigError, counted
from graphwalk.evaluation.values import parse_json
from graphwalk.types.values import SCALARS, Row

_MOST_SHOWN = 50
_WAYS = "answer, cypher and unanswerable: true"
_FORMS = "answer: expected a value, a list of values, or a list of rows with the same fields"

Mistakes = list[tuple[int, str]]
"""Line, or entry of a JSON list, and what is wrong with it."""


class OwnQuestion(Strict):
    """A question of the file. With both `answer` and `cypher`, the rows of the query are the target."""

    question: str = Field(min_length=1)
    answer: Any = None
    cypher: str | None = Field(default=None, min_length=1)
    unanswerable: bool = False
    id: Annotated[str | None, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)] = Field(
        default=None, pattern=r"^\S(.{0,98}\S)?$"
    )
    tags: Annotated[tuple[str, ...], BeforeValidator(lambda tags: [tags] if isinstance(tags, str) else tags)] = ()

    @property
    def items(self) -> list[Any]:
        """Return the values or rows of `answer`."""
        return self.answer if isinstance(self.answer, list) else [] if self.answer in (None, "") else [self.answer]

    @model_validator(mode="after")
    def _check_answer(self) -> Self:
        if self.unanswerable == bool(self.items or self.cypher):
            raise ValueError(f"{'two of' if self.unanswerable else 'no answer: give one of'} {_WAYS}")
        rows = [item.values() for item in self.items if isinstance(item, dict)]
        cells = [value for row in rows for value in row if value is not None] or self.items
        if not all(isinstance(value, SCALARS) and (isinstance(value, str) or abs(value) < 2**63) for value in cells):
            raise ValueError(_FORMS)
        if rows and (len(rows) < len(self.items) or any(item.keys() != self.items[0].keys() for item in self.items)):
            raise ValueError(_FORMS)
        return self


class Dataset:
    """Questions of a file with their places, and mistakes. Raise ConfigError if the file cannot be read.

    `graph`: graph of CypherBench whose questions are read; None: the only one, or the one called `graph_name`.
    """

    def __init__(self, path: Path, graph: str | None, graph_name: str) -> None:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read: {error}", hint="pass a text file in UTF-8") from error
        self.path, self._unit = path, "entry" if text.lstrip().startswith("[") else "line"
        self.mistakes: Mistakes = []
        self.questions: list[tuple[int, OwnQuestion]] = []
        records = list(_csv(text) if path.suffix.lower() == ".csv" else _json(text, self.mistakes))
        graphs = sorted({str(record.get("graph")) for _, record in records if "nl_question" in record})
        chosen = graph or (graphs[0] if len(graphs) == 1 else graph_name)
        if graphs and chosen not in graphs:
            listed = ", ".join(graphs)
            raise ConfigError(
                f"{path}: it has the graphs {listed}, and no {chosen}", hint="-o suite.dataset_graph=NAME"
            )
        for place, record in records:
            if not graphs or record.get("graph") == chosen:
                self._add(place, _from_cypherbench(record) if "nl_question" in record else record)

    def _add(self, place: int, record: Row) -> None:
        try:
            question = OwnQuestion.model_validate(record)
        except ValidationError as error:
            for one in error.errors():
                field = "".join(f"{part}: " for part in one["loc"][:1])
                self.mistakes.append((place, f"{field}{in_words(one, OwnQuestion)}"))
            return
        for other_place, other in self.questions:
            if question.id == other.id if question.id else question.question == other.question:
                what = f"id {question.id!r}" if question.id else "question"
                self.mistakes.append((place, f"the {what} is also in {self._unit} {other_place}"))
                break
        self.questions.append((place, question))

    def check(self) -> None:
        """Raise ConfigError with all mistakes."""
        mistakes = self.mistakes if self.questions or self.mistakes else [(1, "no question")]
        lines = [f"  {self._unit} {place}: {text}" for place, text in sorted(mistakes)]
        if lines:
            head = f"{self.path}: {counted(len(lines), 'mistake')}"
            more = [f"  … and {len(lines) - _MOST_SHOWN} more"] if len(lines) > _MOST_SHOWN else []
            hint = "correct the file; docs/own_graph.md shows its format"
            raise ConfigError("\n".join([head, *lines[:_MOST_SHOWN], *more]), hint=hint)


def _from_cypherbench(record: Row) -> Row:
    rows = [row if isinstance(row, list) else [row] for row in parse_json(str(record.get("answer_json"))) or ()]
    items = [row[0] if len(row) == 1 else {f"column {n}": value for n, value in enumerate(row, 1)} for row in rows]
    tag = (record.get("from_template") or {}).get("match_category")
    fields = {"question": record["nl_question"], "cypher": record.get("gold_cypher"), "id": record.get("qid")}
    return {**fields, "answer": items, "tags": [tag] if tag else []}


def _json(text: str, mistakes: Mistakes) -> Iterator[tuple[int, Row]]:
    """Yield place and object of each entry of a JSON list, or of JSON lines."""
    whole = text.lstrip().startswith("[")
    for number, line in enumerate([text] if whole else text.split("\n"), 1):
        try:
            parsed = json.loads(line, parse_constant=str) if line.strip() else []
        except (ValueError, RecursionError) as error:
            mistakes.append((getattr(error, "lineno", 1) if whole else number, f"not JSON: {error}"))
            continue
        for place, value in enumerate(parsed, 1) if whole or not parsed else [(number, parsed)]:
            if isinstance(value, dict):
                yield place, value
            else:
                mistakes.append((place, "expected an object with the fields question and answer"))


def _csv(text: str) -> Iterator[tuple[int, Row]]:
    """Yield first line and record of each row; empty cells are left out, and an answer may be JSON."""
    reader, line = csv.DictReader(io.StringIO(text, newline=""), restkey="a cell without a column"), 2
    for row in reader:
        cells: Row = {name: cell for name, cell in row.items() if cell}
        if (parsed := parse_json(str(cells.get("answer")))) is not None:
            cells["answer"] = parsed
        yield line, cells | ({"tags": [tag.strip() for tag in cells["tags"].split(",")]} if "tags" in cells else {})
        line = reader.line_num + 1
