"""Parameters are drawn so that a question is worth asking, and graphs that cannot host one are an error."""

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest
from inline_snapshot import snapshot
from scipy.stats import chisquare

from graphwalk.errors import ConfigError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import Question, choose_kinds, shipped_kinds
from graphwalk.suites.questions.config import RowBounds
from graphwalk.suites.questions.generate import make_tasks
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.oracles import Scratch
from graphwalk.suites.questions.parameters import ParameterSearch, ParameterSpace, is_worth_asking
from graphwalk.suites.questions.template import Parameter
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row, Value

INDEX = GraphIndex(generate_graph(GraphSpec(preset="paper-200"), 5))


async def scratch_for(index: GraphIndex) -> Scratch:
    return Scratch(index.graph, await EmbeddedDatabase().load(index.graph))


async def drawn(index: GraphIndex, name: str, number: int = 0, max_hops: int = 3) -> dict[str, Value]:
    search = ParameterSearch(index, await scratch_for(index), max_hops)
    found, _ = await search.draw(shipped_kinds()[name], stdlib_random(0, "test", name, number))
    return found


async def several(name: str) -> Sequence[tuple[dict[str, Value], list[dict[str, Value]]]]:
    found = [await drawn(INDEX, name, number) for number in range(20)]
    return [(parameters, evaluate(name, INDEX, parameters)) for parameters in found]


def evaluate(name: str, index: GraphIndex, parameters: dict[str, Value]) -> list[Row]:
    python = shipped_kinds()[name].python
    assert python is not None
    return python(**parameters).right_rows(index)


@pytest.mark.parametrize("name", shipped_kinds())
async def test_every_question_has_an_answer(name: str) -> None:
    for _, rows in await several(name):
        assert rows
        assert rows[0].get("count", 1) != 0


@pytest.mark.parametrize("name", ["remote_node_property", "negation_with_connection", "path_from_specific_node"])
async def test_all_parameters_worth_asking_about_are_equally_likely(name: str) -> None:
    """Counted over 4,000 draws by chi-square, against a list of all that was made without drawing."""
    graph = generate_graph(GraphSpec(nodes=40, labels=3, relationship_types=2, properties=2, values=3), 2)
    index, kind = GraphIndex(graph), shipped_kinds()[name]
    space, scratch = ParameterSpace(index, 3), await scratch_for(index)
    choices = [space.at(kind.template, number) for number in range(space.size(kind.template))]
    likely = [tuple(parameters.values()) for parameters in choices if await is_worth(name, index, scratch, parameters)]
    random, search = stdlib_random(0, "uniform", name), ParameterSearch(index, scratch, 3)
    found = Counter([tuple((await search.draw(kind, random))[0].values()) for _ in range(4_000)])
    assert 1 < len(likely) < len(choices)
    assert set(found) == set(likely)
    assert chisquare([found[parameters] for parameters in likely]).pvalue > 0.001


async def is_worth(name: str, index: GraphIndex, scratch: Scratch, parameters: dict[str, Value]) -> bool:
    rows = evaluate(name, index, parameters)
    question = Question(shipped_kinds()[name], index, parameters)
    return bool(rows) and await is_worth_asking(question, rows, scratch)


@pytest.mark.parametrize("name", shipped_kinds())
def test_every_choice_has_a_number_of_its_own(name: str) -> None:
    """Those of one label, one property and so on follow from the graph, not from how choices are counted."""
    graph = generate_graph(GraphSpec(nodes=12, labels=3, relationship_types=2, properties=1.5, values=2), 4)
    index, template = GraphIndex(graph), shipped_kinds()[name].template
    space = ParameterSpace(index, 3)
    size = space.size(template)
    choices = [space.at(template, number) for number in range(0, size, max(1, size // 5_000))]
    assert len({tuple(choice.values()) for choice in choices}) == len(choices)
    assert size == counted(index, list(template.parameters.items()), {})


def counted(index: GraphIndex, left: list[tuple[str, Parameter]], chosen: dict[str, Value]) -> int:
    """How many choices there are, one by one."""
    if not left:
        return 1
    (name, parameter), *rest = left
    return sum(counted(index, rest, {**chosen, name: option}) for option in options(index, parameter, chosen))


def options(index: GraphIndex, parameter: Parameter, chosen: dict[str, Value]) -> Iterable[Value]:
    of = chosen.get(str(parameter.of))
    match parameter.role:
        case "label":
            return {node.label for node in index.graph.nodes()} - {chosen.get(str(parameter.differs_from))}
        case "relationship_type":
            return {r.type for r in index.graph.relationships()}
        case "key":
            return [node.key for node in index.graph.nodes() if node.label == of]
        case "property":
            return {
                p
                for e in entities(index)
                if of in (getattr(e, "label", None), getattr(e, "type", None))
                for p in e.properties
            }
        case "value":
            return {e.properties[str(of)] for e in entities(index) if of in e.properties}
        case "hops":
            return range(parameter.at_least, 4)


def entities(index: GraphIndex) -> list[Node | Relationship]:
    return [*index.graph.nodes(), *index.graph.relationships()]


@pytest.mark.parametrize(
    ("bounds", "name"), [({"at_most": 50}, "variable_hop_path"), ({"at_least": 10}, "path_finding")]
)
async def test_answers_are_as_long_as_asked_for(bounds: dict[str, int], name: str) -> None:
    search = ParameterSearch(INDEX, await scratch_for(INDEX), 3)
    kind, rows = shipped_kinds()[name], RowBounds(**bounds)
    lengths = []
    for number in range(20):
        random = stdlib_random(0, "test", name, number)
        parameters, right = await search.draw(kind, random, (), rows)
        assert right == evaluate(name, INDEX, parameters)
        lengths.append(len(right))
    assert all(map(rows.hold, lengths))
    assert not all(rows.hold(len(found)) for _, found in await several(name))


async def test_a_graph_without_answers_of_that_length_is_told_so() -> None:
    search = ParameterSearch(INDEX, await scratch_for(INDEX), 3)
    kind, random = shipped_kinds()["node_count"], stdlib_random(0, "test")
    with pytest.raises(
        ConfigError,
        match=r"none of 64 parameter sets was usable: in 7 no relationship goes from the one label to the other; "
        r"the answer of 57 does not have at least 2 rows \(suite.answer_rows\)",
    ) as caught:
        await search.draw(kind, random, (), RowBounds(at_least=2))
    assert "suite.answer_rows" in caught.value.hint


async def test_every_question_is_asked_within_each_of_several_bounds() -> None:
    store = await EmbeddedDatabase().load(INDEX.graph)
    bounds = [RowBounds(at_most=40), RowBounds(at_least=41, at_most=100), RowBounds(at_least=101)]
    kinds = choose_kinds(["variable_hop_path"])
    tasks = await make_tasks(INDEX.graph, store, seed=1, kinds=kinds, per_question=2, answer_rows=bounds)
    assert [task.answer_rows for task in tasks] == [rows for rows in bounds for _ in range(2)]
    assert all(task.answer_rows is not None and task.answer_rows.hold(task.gold_size) for task in tasks)
    assert [task.task_id[-1] for task in tasks] == list("012345")


async def test_no_answer_is_simply_all_nodes() -> None:
    for parameters, rows in await several("node_count"):
        assert rows[0]["count"] != len(INDEX.keys_of(str(parameters["source_label"])))
    for name in ("compositional_intersection", "negation_with_connection", "negation_on_rel_property"):
        for parameters, rows in await several(name):
            assert len(rows) < len(INDEX.keys_of(str(parameters["source_label"])))


async def test_what_is_excluded_matters() -> None:
    for parameters, rows in await several("negation_with_connection"):
        without = evaluate("negation_with_connection", INDEX, parameters | {"excluded_label": "Nothing"})
        assert len(rows) < len(without)
    for parameters, rows in await several("negation_on_rel_property"):
        without = evaluate("negation_on_rel_property", INDEX, parameters | {"excluded_value": "nothing"})
        assert len(rows) < len(without)


async def test_both_labels_of_an_intersection_matter() -> None:
    for parameters, rows in await several("compositional_intersection"):
        assert parameters["first_label"] != parameters["second_label"]
        for name in ("first_label", "second_label"):
            one = parameters | {"first_label": parameters[name], "second_label": parameters[name]}
            assert len(rows) < len(evaluate("compositional_intersection", INDEX, one))


async def test_a_tie_is_asked_about() -> None:
    nodes = [Node(key, ("A",), {}) for key in "abc"]
    ends = ["ab", "ac", "ba", "bc", "ca"]
    graph = PropertyGraph.from_rows(nodes, [Relationship("R", source, target, {}) for source, target in ends])
    index = GraphIndex(graph)
    assert len(evaluate("node_with_most_relationships", index, await drawn(index, "node_with_most_relationships"))) == 2


async def test_hops_stay_within_the_limit() -> None:
    for name in ("variable_hop_path", "path_from_specific_node", "remote_node_property"):
        assert {(await drawn(INDEX, name, number))["max_hops"] for number in range(20)} == {2, 3}
        assert {(await drawn(INDEX, name, number, max_hops=2))["max_hops"] for number in range(5)} == {2}


async def test_a_graph_that_cannot_host_a_question_is_told_why() -> None:
    nodes = [Node(key, ("A",), {}) for key in "abc"]
    graph = PropertyGraph.from_rows(nodes, [Relationship("R", "a", "b", {})])
    messages = {}
    for name in (
        "node_with_most_relationships",
        "relationship_by_property",
        "variable_hop_path",
        "negation_with_connection",
    ):
        with pytest.raises(ConfigError) as caught:
            await drawn(GraphIndex(graph), name)
        graph_part, _, messages[name] = str(caught.value).partition(f" cannot host the question {name}: ")
        assert graph_part == f"the graph {graph.digest[:12]} (3 nodes, 1 relationship)"
    assert messages == snapshot(
        {
            "node_with_most_relationships": (
                "none of 1 parameter sets was usable: in 1 all nodes with such relationships have equally many"
            ),
            "relationship_by_property": "it requires a relationship type and properties",
            "variable_hop_path": (
                "none of 2 parameter sets was usable: in 2 no path, each relationship in its own direction, leads to the "
                "second label and one step on (shared_neighbor follows both directions)"
            ),
            "negation_with_connection": "it requires two labels",
        }
    )


async def test_a_question_is_not_asked_more_often_than_the_graph_allows() -> None:
    taken = [(type_,) for type_ in INDEX.relationships_of]
    kind, random = shipped_kinds()["relationship_count"], stdlib_random(0, "test")
    with pytest.raises(ConfigError, match="relationship_count 5 times: no further parameter sets exist"):
        await ParameterSearch(INDEX, await scratch_for(INDEX), 3).draw(kind, random, taken)
