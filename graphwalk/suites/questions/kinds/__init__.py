"""The Python part of each kind of question, in a module of its name.

`rows(index, **parameters)` yields every right row, found in the graph in memory, without Cypher. Rows may repeat; of a
tie all are given. Cypher's rules hold: relationships are unique within one match, nodes may repeat, and a missing
property is null, which satisfies neither `=` nor `<>`.

`plan(walker, schema, **parameters)` finds the answer with the tools alone: the scripted expert plays it. With
directions or relationship properties switched off, a plan answers from what is left.

`brute_force(graph, **parameters)`, optional, yields the right rows once more, from a graph in networkx: `graphwalk
verify` compares them with the target.

`by_reference(schema, rows, **parameters)`, optional, returns arguments of the tool `answer` that give these rows.

`STEPS`, where paths have a fixed length above 1, is that length.

Parameters have the names of `templates/questions/NAME.yaml`.
"""
