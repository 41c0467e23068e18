"""Read a file of questions with answers: JSON lines, a JSON list, CSV, or CypherBench (arXiv 2412.18702)."""

import csv
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

VALUE = "value"
"""Field of the rows of a target with single values."""


class OwnQuestion(Strict):
    """A question of the file. With both `answer` and `cypher`, the rows of the query are the target."""

    question: str = Field(min_length=1)
    answer: Any = None
    cypher: str | None = Field(default=None, min_length=1)
    unanswerable: bool = False
    id: Annotated[str | None, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)] = None
    tags: Annotated[tuple[str, ...], BeforeValidator(lambda tags: [tags] if isinstance(tags, str) else tags)] = ()

    @property
    def rows(self) -> list[Row]:
        """Return the rows of `answer`."""
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
    """Questions of a file with their places, and its mistakes. Raise ConfigError if it cannot be read.

    `graph`: graph of CypherBench whose questions are read; None: the only one, or the one called `graph_name`.
    """

    def __init__(self, path: Path, graph: str | None, graph_name: str) -> None:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read: {error}", hint="pass a text file in UTF-8") from error
        self.path, self._unit = path, "entry" if text.lstrip().startswith("[") else "line"
        self.questions: dict[int, OwnQuestion] = {}
        self.mistakes: list[tuple[int, str]] = []
        records = list(_csv(text) if path.suffix.lower() == ".csv" else _json(text, self.mistakes))
        graphs = sorted({str(record.get("graph")) for _, record in records if "nl_question" in record})
        chosen = graph or (graphs[0] if len(graphs) == 1 else graph_name)
        if graphs and chosen not in graphs:
            names = ", ".join(graphs)
            raise ConfigError(f"{path}: no graph {chosen!r}; its graphs: {names}", hint="-o suite.dataset_graph=NAME")
        places: dict[str | int, int] = {}
        for place, record in records:
            if graphs and record.get("graph") != chosen:
                continue
            try:
                question = OwnQuestion.model_validate(_from_cypherbench(record) if graphs else record)
            except ValidationError as error:
                fields = [("".join(f"{part}: " for part in one["loc"][:1]), one) for one in error.errors()]
                self.mistakes += [(place, f"{field}{in_words(one, OwnQuestion)}") for field, one in fields]
                continue
            first = places.setdefault(question.id or question.question, place)
            if first != place:
                self.mistakes.append(
                    (place, f"repeats the {'id' if question.id else 'question'} of {self._unit} {first}")
                )
            self.questions[place] = question

    def check(self) -> None:
        """Raise ConfigError with all mistakes."""
        mistakes = self.mistakes if self.questions or self.mistakes else [(1, "no question")]
        lines = [f"  {self._unit} {place}: {text}" for place, text in sorted(mistakes)]
        if lines:
            head = f"{self.path}: {counted(len(lines), 'mistake')}"
            raise ConfigError("\n".join([head, *lines]), hint="docs/own_graph.md shows the format of the file")


def _from_cypherbench(record: Row) -> Row:
    rows = [row if isinstance(row, list) else [row] for row in parse_json(str(record.get("answer_json"))) or ()]
    answer = [row[0] if len(row) == 1 else {f"column {n}": value for n, value in enumerate(row, 1)} for row in rows]
    tag = (record.get("from_template") or {}).get("match_category")
    fields = {"question": record.get("nl_question"), "cypher": record.get("gold_cypher"), "id": record.get("qid")}
    return {**fields, "answer": answer, "tags": [tag] if tag else []}


def _json(text: str, mistakes: list[tuple[int, str]]) -> Iterator[tuple[int, Row]]:
    """Yield place and object of each entry of a JSON list, or of each JSON line."""
    whole = text.lstrip().startswith("[")
    for number, line in enumerate([text] if whole else text.split("\n"), 1):
        try:
            value = json.loads(line, parse_constant=str) if line.strip() else []
        except (ValueError, RecursionError) as error:
            reason = str(error) if whole else str(error).replace("line 1 column", "column")
            mistakes.append((number, f"not JSON: {reason}"))
            continue
        for place, record in enumerate(value, 1) if whole else [(number, value)] if line.strip() else ():
            if isinstance(record, dict):
                yield place, record
            else:
                mistakes.append((place, "expected an object with the fields question and answer"))


def _csv(text: str) -> Iterator[tuple[int, Row]]:
    """Yield last line and record of each row; empty cells are left out, and an answer may be JSON."""
    reader = csv.DictReader(text.splitlines(keepends=True), restkey="a cell without a column")
    for row in reader:
        cells: Row = {name: cell for name, cell in row.items() if cell}
        if (parsed := parse_json(str(cells.get("answer")))) is not None:
            cells["answer"] = parsed
        yield (
            reader.line_num,
            cells | ({"tags": [tag.strip() for tag in cells["tags"].split(",")]} if "tags" in cells else {}),
        )
