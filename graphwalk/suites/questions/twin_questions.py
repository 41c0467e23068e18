"""Questions about a graph, asked about its twin: in other names and values, and with the same answer behind them."""

from collections.abc import Iterable, Mapping

from graphwalk.graphs.twin.making import Twin
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.template import QuestionTemplate
from graphwalk.types.graph import Node, Relationship, value_order
from graphwalk.types.values import Value, shown


def mapped_parameters(
    template: QuestionTemplate, parameters: Mapping[str, Value], index: GraphIndex, twin: Twin
) -> dict[str, Value]:
    """The parameters of a task about the original, of which `index` is, as they are in the twin."""
    mapped: dict[str, Value] = {}
    for name, parameter in template.parameters.items():
        given = parameters[name]
        match parameter.role:
            case "label":
                mapped[name] = twin.labels[str(given)]
            case "relationship_type":
                mapped[name] = twin.relationship_types[str(given)]
            case "property":
                mapped[name] = twin.properties[str(given)]
            case "key":
                mapped[name] = twin.keys[str(given)]
            case "value":
                property_name = str(parameters[str(parameter.of)])
                owner = template.parameters[str(parameter.of)].of
                raw = _raw(_entities(template, parameters, str(owner), index), property_name, given)
                mapped[name] = twin.values.of(property_name, raw)
            case "hops":
                mapped[name] = given
    return mapped


def same_answer(original: QuestionTask, task: QuestionTask) -> bool:
    """False where a query has names or values in its text, which the twin does not have."""
    computed = [[row[field] for row in one.gold for field in one.computed_fields] for one in (original, task)]
    return original.gold_size == task.gold_size and computed[0] == computed[1]


def _entities(
    template: QuestionTemplate, parameters: Mapping[str, Value], owner: str, index: GraphIndex
) -> Iterable[Node | Relationship]:
    name = str(parameters[owner])
    return index.nodes_of[name] if template.parameters[owner].role == "label" else index.relationships_of[name]


def _raw(entities: Iterable[Node | Relationship], name: str, given: Value) -> Value:
    """The value of the graph that a parameter shows: a date, say, where it is text. No two values are shown alike."""
    found = (entity.properties[name] for entity in entities if name in entity.properties)
    return next(value for value in found if value_order(shown(value)) == value_order(given))
