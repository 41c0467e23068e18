"""Python parts of the question kinds, in modules with the names of `templates/questions/NAME.yaml`.

* `rows(index, **parameters)` yields every correct row from the graph in memory, including ties; rows may repeat.
  Cypher's rules hold: no relationship repeats within a match, nodes may repeat, and a missing property is null, which
  satisfies neither `=` nor `<>`.
* `plan(walker, schema, **parameters)` finds the answer with the tools, for the scripted expert. If tools hide
  directions or relationship properties, it uses the remaining data.
* `brute_force(graph, **parameters)`, optional, yields the correct rows from a networkx graph, for `graphwalk verify`.
* `by_reference(schema, rows, **parameters)`, optional, returns arguments of the tool `answer` for these rows.
* `relaxed(index, **parameters)`, optional, returns name of a condition that is no parameter → rows without it, for the
  analysis of failures, for example `{"negation": …}`.
* `STEPS`, optional, is the fixed length of paths longer than 1.
"""
