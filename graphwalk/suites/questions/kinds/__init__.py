"""The Python part of each question, in a module of its name.

`rows(index, **parameters)` is the reference evaluator: every right row, found in the graph in memory, without Cypher.
Rows may repeat; of a tie all are given. Cypher's rules hold: relationships are unique within one match, nodes may
repeat, and a missing property is null, which satisfies neither `=` nor `<>`.

`plan(walker, schema, **parameters)` is how the scripted expert finds the answer with the tools alone. With directions
or relationship properties switched off, a plan answers from what is left.

`STEPS`, where paths have a fixed length above 1, is that length.

Parameters have the names of `templates/questions/NAME.yaml`.
"""
