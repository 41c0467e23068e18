"""The package as a graph of imports."""

import grimp
import networkx as nx


def test_no_circle_of_imports_in_the_whole_package() -> None:
    """Imports for type checkers only count too: two modules that need each other's names are one module."""
    found = grimp.build_graph("graphwalk", exclude_type_checking_imports=False, cache_dir=None)
    imports = nx.DiGraph(
        (one, other) for one in found.modules for other in found.find_modules_directly_imported_by(one)
    )
    assert ("graphwalk.console", "graphwalk.settings") in imports.edges
    assert [sorted(members) for members in nx.strongly_connected_components(imports) if len(members) > 1] == []
