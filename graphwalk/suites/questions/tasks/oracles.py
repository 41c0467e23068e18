"""Comparison of two oracles: a question's Cypher in the store, and its evaluator on the graph in memory.

Without an evaluator, the Cypher results of the store and of the embedded engine are compared.
"""

from graphwalk.errors import OracleError
from graphwalk.graphs.values import Row, shown_rows
from graphwalk.stores.base import GraphStore
from graphwalk.suites.questions.catalogue import Question
from graphwalk.suites.rows import distinct, row_key, same_rows

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
    if question.part is None:
        other, expected = "the embedded engine", rows if embedded is store else await cypher_rows(question, embedded)
    else:
        other, expected = "the evaluator", question.part.right_rows(question.index) if right is None else right
    if agree(question, rows, expected):
        return distinct(expected)
    graph, file = question.index.graph, question.kind.file.path
    keys, expected_keys = set(map(row_key, rows)), set(map(row_key, expected))
    only = [row for row in distinct(rows) if row_key(row) not in expected_keys]
    only_other = [row for row in distinct(expected) if row_key(row) not in keys]
    raise OracleError(
        f"Cypher ({store.kind} store) and {other} differ on {question.kind.name}\n"
        f"graph: digest {graph.digest}, seed {graph.seed}\nparameters: {question.written}\nquery: {question.cypher}\n"
        f"only Cypher found: {only[:_MOST_ROWS]}\nonly {other} found: {only_other[:_MOST_ROWS]}",
        hint=f"the Cypher in {file} must return every correct row in every store; else {other} or the store is wrong",
    )


async def cypher_rows(question: Question, store: GraphStore, *, paper: bool = False) -> list[Row]:
    """Return the rows that the store finds with the query of the template; `paper`: as it is in the paper."""
    query = store.render(question.kind.template.cypher, {**question.identifiers, "paper": paper})
    return shown_rows(await store.run(query, question.values))


def agree(question: Question, rows: list[Row], right: list[Row]) -> bool:
    """Return True for equal sets of rows, or if `rows` is one of several tied rows, of which Cypher returns one."""
    if question.part is not None and question.kind.template.mode == "ties-allowed" and right:
        return len(rows) == 1 and same_rows([*right, *rows], right)
    return same_rows(rows, right)
