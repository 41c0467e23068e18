import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import Dialect, quote_identifier, render_cypher

TEMPLATE = (
    "MATCH (a:{{ l | label }})-[:{{ t | type }}*1..{{ n | hops }}]->(b{{ any_node }}) RETURN b.{{ p | property }} AS p"
)
NAMES = {"l": "A", "t": "R", "n": 3, "p": "x"}


def test_unscoped_and_scoped_text() -> None:
    assert render_cypher(TEMPLATE, NAMES) == "MATCH (a:`A`)-[:`R`*1..3]->(b) RETURN b.`x` AS p"
    scoped = render_cypher(TEMPLATE, NAMES, Dialect("gw_1"))
    assert scoped == "MATCH (a:`A`:`gw_1`)-[:`R`*1..3]->(b:`gw_1`) RETURN b.`x` AS p"


def test_a_list_of_names_serves_a_loop() -> None:
    template = "RETURN 1 AS one{% for p in ps %}, r.{{ p | property }} AS {{ p | property }}{% endfor %}"
    assert render_cypher(template, {"ps": ["a", "b"]}) == "RETURN 1 AS one, r.`a` AS `a`, r.`b` AS `b`"


@pytest.mark.parametrize(
    "template", ["{{ l }}", "{{ missing | label }}", "{{ n | label }}", "{{ l | hops }}", "{{ l | nosuch }}"]
)
def test_unsafe_templates_are_refused(template: str) -> None:
    with pytest.raises(ConfigError):
        render_cypher(template, NAMES)


@pytest.mark.parametrize("name", ["", "a\\u0060b", "a\0b"])
def test_names_that_no_query_can_hold_are_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        quote_identifier(name)


@example("\n")
@given(st.text(st.characters(exclude_characters="\\\0", exclude_categories=["Cs"]), min_size=1))
def test_a_quoted_name_ends_where_it_should(name: str) -> None:
    quoted = quote_identifier(name)
    inner = quoted[1:-1]
    assert (quoted[0], quoted[-1]) == ("`", "`")
    assert inner.replace("``", "").count("`") == 0
    assert inner.replace("``", "`") == name
