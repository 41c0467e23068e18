"""The reader and player of TCK scenarios, on scenarios of our own; no word of the TCK is needed."""

import math
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("gherkin", reason="an extra of its own: pip install -e '.[truth]'")

from benchmarks.truth.tck import JUDGEMENTS, failures, judged, judgements, table
from benchmarks.truth.tck_engines import Kglite
from benchmarks.truth.tck_play import play
from benchmarks.truth.tck_scenarios import chosen_features, scenarios
from benchmarks.truth.tck_values import node, path, plain, read_value, relationship

FEATURE = """
Feature: Return1 - ours
  Scenario: [1] Ways of a chain
    Given an empty graph
    And having executed:
      \"\"\"
      CREATE (:Town {name: 'x', size: 1})-[:ROAD {km: 2.5}]->(:Town {name: 'y', size: 2})
      \"\"\"
    And parameters are:
      | least | 1 |
    When executing query:
      \"\"\"
      MATCH p = (a:Town)-[r:ROAD]->(b) WHERE a.size >= $least RETURN p, r, b.name AS name
      \"\"\"
    Then the result should be, in any order:
      | p                                                                                  | r                 | name |
      | <(:Town {name: 'x', size: 1})-[:ROAD {km: 2.5}]->(:Town {size: 2, name: 'y'})> | [:ROAD {km: 2.5}] | 'y'  |
    And no side effects

  Scenario Outline: [2] Numbers
    Given any graph
    When executing query:
      \"\"\"
      UNWIND [2, 1] AS n RETURN <what> AS n ORDER BY n
      \"\"\"
    Then the result should be, in order:
      | n       |
      | <first> |
      | <last>  |

    Examples:
      | what    | first | last |
      | n       | 1     | 2    |
      | n       | 2     | 1    |
      | n * 1.0 | 1.0   | 2.0  |
      | n * 1.0 | 1     | 2    |

  Scenario: [3] Not a query
    Given any graph
    When executing query:
      \"\"\"
      RETURN (
      \"\"\"
    Then a SyntaxError should be raised at compile time: UnexpectedSyntax

  Scenario: [4] A query after all
    Given any graph
    When executing query:
      \"\"\"
      RETURN 1 AS one
      \"\"\"
    Then a SyntaxError should be raised at compile time: UnexpectedSyntax

  Scenario: [5] Dates
    Given any graph
    When executing query:
      \"\"\"
      RETURN date('2026-01-01') AS day
      \"\"\"
    Then the result should be, in any order:
      | day          |
      | '2026-01-01' |

  Scenario: [6] A node more
    Given any graph
    When executing query:
      \"\"\"
      CREATE (:Town)
      \"\"\"
    Then the result should be empty
    And no side effects
"""


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    made = tmp_path / "tck.jar"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("features/clauses/return/Return1.feature", FEATURE)
        archive.writestr("features/clauses/create/Create1.feature", "Feature: Create1 - not chosen\n")
    return made


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("-3", -3),
        ("1.5e3", 1500.0),
        ("'it\\'s'", "it's"),
        ("[1, [true, null], {}]", [1, [True, None], {}]),
        ("{a: 'x', b: {c: -0.5}}", {"a": "x", "b": {"c": -0.5}}),
        ("()", node([], {})),
        ("(:A:B {n: 1})", node(["B", "A"], {"n": 1})),
        ("[:T {p: [1]}]", relationship("T", {"p": [1]})),
        ("<(:A)<-[:T]-()>", path([node(["A"], {}), "<", relationship("T", {}), node([], {})])),
    ],
)
def test_values_of_tables(text: str, value: Any) -> None:
    assert plain(read_value(text)) == plain(value)


def test_kinds_of_values_are_told_apart() -> None:
    different = [1, 1.0, True, "1", None, [1], {"a": 1}, node([], {}), math.nan]
    assert len({plain(value) for value in different}) == len(different)
    assert plain(math.nan) == plain(read_value("NaN"))
    assert plain([2, 1], ordered=False) == plain([1, 2], ordered=False)
    assert plain([2, 1]) != plain([1, 2])
    for text in ("", "1 2", "[1", "(:A", "?"):
        with pytest.raises(ValueError):  # noqa: PT011 -- each in its own words
            read_value(text)


def test_scenarios_are_played_and_judged(jar: Path) -> None:
    outcomes = [play(scenario, Kglite(), jar) for scenario in scenarios(jar)]
    told = {outcome.scenario.name: outcome.verdict for outcome in outcomes}
    assert told == {
        "[1] Ways of a chain": "passed",
        "[2] Numbers": "passed",
        "[2] Numbers (2)": "failed",
        "[2] Numbers (3)": "passed",
        "[2] Numbers (4)": "failed",
        "[3] Not a query": "passed",
        "[4] A query after all": "failed",
        "[5] Dates": "not applicable",
        "[6] A node more": "failed",
    }
    found = judged("kglite", outcomes)
    assert [o.scenario.name for o in found[None]] == ["[2] Numbers (2)", "[2] Numbers (4)", "[6] A node more"]
    assert list(table({"kglite": outcomes}))[-1] == "| **all** | 9 | 4 | 4 | 1 |"
    text = "\n".join(failures("kglite", outcomes))
    assert "**Not judged yet.**<br>Return1 2 (×2), 6" in text
    assert "A query after all" not in text, "no title of a scenario goes into the page"


def test_judgements_and_chosen_features_are_whole() -> None:
    assert all(reason for reason in chosen_features().values())
    entries = yaml.safe_load(JUDGEMENTS.read_text(encoding="utf-8"))
    assert len(judgements()) == len(entries) >= 8
    assert all(judgement.reason.strip() for judgement in judgements())
