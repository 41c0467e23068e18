"""Changes of scoring that no test notices since they make no difference, and why."""

import re

_EQUALLY_LONG = "the two are equally long, whoever checks it"
REASONS: dict[str, dict[str, str]] = {
    "suites/questions/kinds/*.py": {
        r"max\(counts.values\(\), default=": "where nothing is counted, nothing is held against the most",
    },
    "suites/questions/oracle/rows.py": {
        r"plain = (?:None|.* and value is None)|plain\) and False": "a row of plain values is copied instead of handed on",
        r"\(-2, 0\)|\(-1, 1\)": "null still comes before every value",
        r"dict\(zip\(_keys": _EQUALLY_LONG,
    },
    "suites/questions/oracle/graph_index.py": {
        r"_names\(.*→.*_names\((?:None|.XX|.RELATIONSHIP)": "whatever is not of nodes is of relationships",
    },
}
"""Module → a pattern of the changed lines, `before → after` → why no test can notice."""


def reason(module: str, change: str) -> str | None:
    """Why a change makes no difference; None where nobody has said so."""
    found = (why for pattern, why in REASONS.get(module, {}).items() if re.search(pattern, change))
    return next(found, None)
