"""The prompts of mazes, word for word."""

import pytest
from inline_snapshot import snapshot

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.mazes.suite import no_tools_prompt, tools_prompt
from tests.suites.mazes.stage import random_stage, stage


async def test_with_tools() -> None:
    here = await stage()
    system, user = tools_prompt(here.task, await here.store.schema(), AgentConfig())
    assert (system.role, user.role) == ("system", "user")
    assert user.content == snapshot("""\
Find a path through the maze from cell "0" to cell "8".
Answer with one JSON object that lists the keys of all cells of the path in order, the first and the last one included: {"path": ["<key>", "<key>", …]}\
""")
    assert system.content == snapshot("""\
You find your way through a maze that is stored as a property graph in Neo4j. The maze is a square of 4 rows with 4 cells each. Every cell is a node, and cells that share an edge are joined by an ADJACENT relationship, which can be followed both ways. Some cells are walls, and nobody can enter them. You start in the cell with key "0", and the goal is the cell with key "8".

You cannot see the maze and you cannot write queries. What you have are tools. This is the schema of the graph, with one line per property:

number | entity type | entity name | Cypher pattern | property
1 | Node | Cell | (:Cell) | euclidean_distance
2 | Node | Cell | (:Cell) | key
3 | Node | Cell | (:Cell) | mark_order
4 | Node | Cell | (:Cell) | marked
5 | Relationship | ADJACENT | (:Cell)-[:ADJACENT]->(:Cell) | (none)

What the properties of a cell mean:
- key: the number of the cell as text.
- euclidean_distance: the length of the straight line from the cell to the goal. It tells a direction and nothing more: walls may stand in between, and the way to the goal may lead away from it first.
- marked: whether you have visited the cell.
- mark_order: 0 for the cell that you visited first, 1 for the next new one, and so on; -1 for cells that you have not visited.

The time is 2026-01-01T00:00:00Z.

How to work:
- Begin with a call that visits the start, and explore from there, cell by cell, until you have visited the goal. Until then every message of yours is a tool call and not an answer: you cannot guess the way.
- Where you come to a dead end, go on from another cell that was listed and is not marked yet.
- The tools are deterministic: apart from the marks that your visits leave, the same call gives the same result. A cell that is marked has nothing new to show.
- If a call is refused, the message says why. Correct the call and go on.
- Do not stop before you know a complete path from the start to the goal, each cell next to the one before it, and none of them a wall.
- As soon as you know one, stop calling tools and answer with the list of its keys alone. Leave out dead ends and detours that the exploration took.\
""")


async def test_strict_mode_is_in_the_prompt() -> None:
    strict = await stage(strict=True)
    texts = [
        tools_prompt(s.task, await s.store.schema(), AgentConfig())[0].content or "" for s in (strict, await stage())
    ]
    assert ["every other cell is refused" in text for text in texts] == [True, False]


async def test_without_tools_the_maze_is_drawn() -> None:
    here = await stage()
    system, user = no_tools_prompt(here.task, AgentConfig())
    assert user.content == here.task.question
    assert system.content == snapshot("""\
You find your way through a maze. It is a square of 4 rows with 4 cells each, and you move from an open cell to an open cell above, below, left or right of it. Diagonal steps, steps over the border and steps into walls are not allowed.

The cells are numbered row by row: the top left cell is 0, the cell to the right of a cell has the next number, and the cell below it has a number that is higher by 4. The number as text is the key of a cell.

This is the maze:

+-----------------+
|  S0   1   2   3 |
|  ##  ##  ##   7 |
|  G8   9  ##  11 |
|  ##  13  14  15 |
+-----------------+

Legend:
- a number is an open cell, and its key
- S before the number: the start; G before the number: the goal; the letter is no part of the key
- ##: a wall
- | + -: the border

The time is 2026-01-01T00:00:00Z.

Give a complete path from the start to the goal, each cell next to the one before it, without detours, and in exactly the format that the question asks for.\
""")


async def test_the_texts_do_not_reveal_the_maze_with_tools() -> None:
    here = await stage()
    said = "\n".join(m.content or "" for m in tools_prompt(here.task, await here.store.schema(2), AgentConfig()))
    assert "1000000" not in said
    assert "#" not in said


async def test_the_tools_are_described() -> None:
    first, second = (await stage()).toolbox().specs
    assert first.description == snapshot("""\
Visits one cell and lists the cells that can be entered from it in one step.

When to use it: to explore. The cell you name counts as visited from then on (marked becomes true), and its first visit
fixes its mark_order: 0 for the first cell you visit, 1 for the next new one, and so on.
What comes back: one row per open cell that shares an edge with it, sorted by key, each with key, euclidean_distance
(straight line to the goal), marked and mark_order (-1 until visited). Walls are not listed. A wall, or a key that does
not exist, is answered with a message and marks nothing.
Example: {"node_id": "31"} returns
[{"key": "21", "euclidean_distance": 4.1231, "marked": true, "mark_order": 0}, {"key": "32", "euclidean_distance": 2.2361, "marked": false, "mark_order": -1}]\
""")
    assert second.description == snapshot("""\
Joins the cells that you have visited to a path, from the first one to the one that was newly visited last.

When to use it: once the goal is the cell that you visited last. Only visited cells are used, nothing is explored, and
the call changes no marks.
What comes back: the keys of the cells of the shortest such path in order, first and last cell included. If the visited
cells do not connect the two, a message says so.
Example: {} returns
["21", "31", "32", "42"]\
""")


PAPER = AgentConfig(prompts="paper", turn_limit=400)


async def test_with_tools_under_the_papers_protocol() -> None:
    here = await stage(agent=PAPER)
    system, user = tools_prompt(here.task, await here.store.schema(), PAPER)
    assert user.content == snapshot("""\
Find the shortest path through the maze from cell "0" to cell "8".
Answer with one JSON object that lists the keys of all cells of the path in order, the first and the last one included: {"path": ["<key>", "<key>", …]}\
""")
    assert system.content == snapshot("""\
You navigate a maze that is stored as a property graph in Neo4j: a square of 4 rows with 4 cells each. Every cell is a node, and cells that share an edge are joined by an ADJACENT relationship, which can be followed both ways. Find the shortest path from the cell with key "0" to the cell with key "8". You work through tools. This is the schema of the graph, with one line per property:

number | entity type | entity name | Cypher pattern | property
1 | Node | Cell | (:Cell) | euclidean_distance
2 | Node | Cell | (:Cell) | key
3 | Node | Cell | (:Cell) | mark_order
4 | Node | Cell | (:Cell) | marked
5 | Relationship | ADJACENT | (:Cell)-[:ADJACENT]->(:Cell) | (none)

The properties of a cell:
- key: its number as text.
- euclidean_distance: the length of the straight line from the cell to the goal.
- marked: whether you have visited the cell.
- mark_order: 0 for the cell that you visited first, 1 for the next new one, and so on; -1 for cells not visited.

The time is 2026-01-01T00:00:00Z.

Guidelines:
- The tools are deterministic, and they keep a history: each visit marks its cell, and later results show the marks.
- Not every visited cell need be part of the path: some may be redundant for it.
- Go on until the path from the start to the goal is complete. Then stop calling tools, and answer with the list of its keys alone, without detours.\
""")


async def test_without_tools_under_the_papers_protocol() -> None:
    here = await stage(agent=PAPER, drawn_walls="numbered")
    system, user = no_tools_prompt(here.task, PAPER)
    assert user.content == here.task.question
    assert system.content == snapshot("""\
You navigate a maze: a square of 4 rows with 4 cells each. A step leads to an open cell above, below, left or right.

The cells are numbered row by row from 0 at the top left, so the cell below a cell has a number that is higher by 4. The number as text is the key of a cell.

+-----------------+
|  S0   1   2   3 |
|  #4  #5  #6   7 |
|  G8   9 #10  11 |
| #12  13  14  15 |
+-----------------+

Legend:
- a number is an open cell, and its key
- S before the number: the start; G before the number: the goal
- # before a number: a wall
- | + -: the border

The time is 2026-01-01T00:00:00Z.

Give the shortest path from the start to the goal in the format that the question asks for.\
""")


async def test_numbered_walls_have_a_legend() -> None:
    here = await stage(drawn_walls="numbered")
    text = no_tools_prompt(here.task, AgentConfig())[0].content or ""
    assert "# before a number: a wall" in text
    assert "##" not in text


@pytest.mark.parametrize("strict", [False, True])
async def test_the_expert_is_right_under_the_papers_protocol(strict: bool) -> None:
    for seed in range(3):
        here = await random_stage(seed, strict=strict, size=8, walls=0.4, min_path=9)
        score, _ = await here.play("expert", agent=PAPER)
        assert score.valid
