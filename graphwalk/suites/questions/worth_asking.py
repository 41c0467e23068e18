"""Which parameters make a question worth asking: it has an answer, and the answer is not simply everything."""

from graphwalk.errors import StoreError
from graphwalk.stores.store import GraphStore
from graphwalk.suites.questions.oracle.agreement import cypher_rows
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.rows import distinct
from graphwalk.suites.questions.oracle.scratch import Scratch
from graphwalk.suites.questions.question import Question, count_candidates
from graphwalk.types.values import Row


async def known_rows(question: Question, index: GraphIndex, scratch: Scratch, most: int | None = None) -> list[Row]:
    """The right rows as the evaluator names them (of more than `most`, any `most` + 1); where there is none, as the
    embedded engine does.

    ConfigError where the engine refuses the Cypher, or the columns are not the answer fields.
    """
    asked = ", ".join(question.answer_fields)
    if question.right_rows is not None:
        rows = question.right_rows(index, most=most)
        if rows and rows[0].keys() != set(question.answer_fields):
            given = ", ".join(rows[0])
            raise question.kind.mistake(f"the Python part gives {given} in place of {asked}", "answer_fields")
        return rows
    try:
        rows = await cypher_rows(question, await scratch.store())
    except StoreError as error:
        raise question.kind.mistake(str(error), "cypher") from error
    for row in rows:
        if row.keys() != set(question.answer_fields):
            raise question.kind.mistake(f"the query returns {', '.join(row)} in place of {asked}", "cypher")
        if unfit := [name for name, value in row.items() if not isinstance(value, str | int | float | None)]:
            raise question.kind.mistake(f"{unfit[0]} is not a text, number, true, false or null", "cypher")
    return distinct(rows)


def has_answer(question: Question, rows: list[Row]) -> bool:
    """There is a row, and what is counted is at least 1."""
    computed = question.kind.template.computed
    return bool(rows) and all(row[field] not in (0, None) for row in rows for field in computed)


async def is_worth_asking(question: Question, index: GraphIndex, rows: list[Row], scratch: Scratch) -> bool:
    """True where the right answer `rows` is not trivial, as the `drawing` of the template says."""
    template = question.kind.template
    drawing = template.drawing
    if any(row[field] is None for row in rows for field in drawing.required_fields):
        return False
    candidates = count_candidates(template, index, question.parameters) if drawing.below_candidates else None
    if candidates is not None and len(rows) >= candidates:
        return False
    size = rows[0][template.computed[0]] if template.one_number else len(rows)
    for number in range(len(drawing.wider)):
        if await _wider_size(question, number, await scratch.store()) <= size:
            return False
    return True


async def _wider_size(question: Question, number: int, store: GraphStore) -> float:
    """The size of the answer with one condition left out."""
    place = ("drawing", "wider", number)
    kind = question.kind
    try:
        query = store.render(kind.template.drawing.wider[number], question.identifiers)
        rows = await store.run(query, question.values)
    except StoreError as error:
        raise kind.mistake(str(error), *place) from error
    if len(rows) != 1 or not isinstance(size := rows[0].get("size"), int | float):
        raise kind.mistake("the query must return one number, `size`", *place)
    return size
