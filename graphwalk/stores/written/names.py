"""The names that a graph has, for queries: a name that does not exist would find nothing, and nobody would know why."""

from graphwalk.stores.written.refusal import QueryRefused
from graphwalk.types.schema import Schema


class Names:
    """Labels, relationship types and properties of one schema, and the map keys that a query makes itself."""

    def __init__(self, schema: Schema) -> None:
        self.labels = [node.label for node in schema.nodes if node.label]
        self.types = [relationship.type for relationship in schema.relationships]
        of_nodes = {property_.name for node in schema.nodes for property_ in node.properties}
        of_relationships = {p.name for relationship in schema.relationships for p in relationship.properties}
        self.properties = sorted(of_nodes | of_relationships)
        self.own: set[str] = set()

    def check_label(self, name: str) -> str:
        return _known(name, self.labels, "unknown_label")

    def check_type(self, name: str) -> str:
        return _known(name, self.types, "unknown_type")

    def check_property(self, name: str) -> str:
        return name if name in self.own else _known(name, self.properties, "query_unknown_property")


def _known(name: str, names: list[str], message: str) -> str:
    if name not in names:
        raise QueryRefused("unknown_name", message, name=name, names=names)
    return name
