"""Comparison of two oracles: a question's Cypher in the store, and its evaluator on the graph in memory.

Without an evaluator, the Cypher results of the store and of the embedded engine are compared.
"""

from graphwalk.errors import OracleError
from graphwalk.evaluation.rows import distinct, row_key, same_rows
from graphwalk.stores.base import GraphStore
from graphwalk.suites.questions.catalogue import Question
from graphwalk.types.values import Row, shown_rows

_MOST_ROWS = 20
"""Rows listed in a message."""


async def agreed_rows(
    question: Question, store: GraphStore, embedded: GraphStore, right: list[Row] | None = None
) -> list[Row]:
    """Return the distinct correct rows if both oracles agree. `right` contains the evaluator's rows if known.

    `embedded` has the same graph on the embedded engine.

    Raise OracleError with the rows that only one of them finds.
    """
    rows = await cypher_rows(question, store)
    kind, part = question.kind, question.part
    if part is None:
        other = rows if embedded is store else await cypher_rows(question, embedded)
        if same_rows(rows, other):
            return distinct(rows)
        raise OracleError(
            f"the {store.kind} store and the embedded engine differ on {kind.name}, which has no evaluator\n"
            f"{_difference(question, f'the {store.kind} store', rows, 'the embedded engine', other)}",
            hint=f"the Cypher in {kind.file.path} must return every correct row on any engine",
        )
    right = part.right_rows(question.index) if right is None else right
    if agree(question, rows, right):
        return right
    raise OracleError(
        f"Cypher ({store.kind} store) and the evaluator of {kind.name} differ\n"
        f"{_difference(question, 'Cypher', rows, 'the evaluator', right)}",
        hint=f"the Cypher in {kind.file.path}, the Python part of {kind.name}, or the store is wrong",
    )


def _difference(question: Question, one: str, rows: list[Row], other: str, others: list[Row]) -> str:
    """Describe the question and the rows that only one oracle finds."""
    keys, other_keys = set(map(row_key, rows)), set(map(row_key, others))
    only = [row for row in distinct(rows) if row_key(row) not in other_keys]
    only_other = [row for row in distinct(others) if row_key(row) not in keys]
    graph = question.index.graph
    return (
        f"graph: digest {graph.digest}, seed {graph.seed}\nparameters: {question.written}\n"
        f"query: {question.cypher}\nonly {one} found: {only[:_MOST_ROWS]}\n"
        f"only {other} found: {only_other[:_MOST_ROWS]}"
    )


async def cypher_rows(question: Question, store: GraphStore, *, paper: bool = False) -> list[Row]:
    """Return the rows that the store finds with the query of the template; `paper`: as it is in the paper."""
    query = store.render(question.kind.template.cypher, {**question.identifiers, "paper": paper})
    return shown_rows(await store.run(query, question.values))


def agree(question: Question, rows: list[Row], right: list[Row]) -> bool:
    """Return True for equal sets of rows, or if `rows` is one of several tied rows, of which Cypher returns one."""
    if question.kind.template.mode == "ties-allowed" and right:
        return len(rows) == 1 and same_rows([*right, *rows], right)
    return same_rows(rows, right)
