"""The rows of a tool as its YAML declares them: the example of docs/extending.md in an episode, and mistakes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, run_episode
from graphwalk.agent.prompt import Prompt
from graphwalk.analysis.observed import observed_graph
from graphwalk.config.agent import AgentConfig
from graphwalk.models.chat import Message, ToolCall, from_dict, to_dict
from graphwalk.models.scripted import Ask, Policy, ScriptedModel
from graphwalk.models.trajectory import Trajectory
from graphwalk.suites.graph_prompts import tools_system
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tool, load_tools
from tests.explained import explained_score
from tests.suites.questions.evidence_graph import near, place, task

EXAMPLES = Path(__file__).parents[2] / "examples" / "tools"
SHORTEST_PATH = EXAMPLES / "get_shortest_path.yaml"
TARGETS = EXAMPLES / "get_targets.yaml"
PATHS = task("path_finding", source_label="A", middle_label="B", target_label="C")
COUNT = task("relationship_count", relationship_type="R")
WALK = {"from_label": "A", "from_key": "a2", "to_label": "C", "to_key": "c2"}
ON_THE_PATH = [{"source_node_key": "a2", "target_node_key": "c2"}]
OTHER = [{"source_node_key": "a2", "target_node_key": "c1"}]


async def episode(question: QuestionTask, tool: Path, asks: list[Ask], answer: Any) -> Trajectory:
    """Return an episode with the four tools and a sixth one, as a log gives it back."""

    def policy() -> Policy:
        yield asks
        return json.dumps(answer)

    here = await place()
    toolbox = GraphToolbox(here.store, here.schema, load_tools([*GRAPH_TOOLS, str(tool)]))
    prompt = Prompt((tools_system(here.schema, AgentConfig()), Message("user", question.question)), toolbox)
    played = await run_episode(Episode(Conversation(prompt, AgentConfig()), ScriptedModel("path", policy())))
    return from_dict(Trajectory, json.loads(json.dumps(to_dict(played))))


@pytest.mark.parametrize(
    ("declares", "answer", "grounded"),
    [(True, ON_THE_PATH, 1.0), (True, OTHER, 0.0), (False, ON_THE_PATH, None)],
)
async def test_a_path_is_evidence_if_the_tool_declares_it(
    declares: bool, answer: Any, grounded: float | None, tmp_path: Path
) -> None:
    tool = tmp_path / SHORTEST_PATH.name
    text = SHORTEST_PATH.read_text("utf-8")
    tool.write_text(text if declares else text.replace("\nshows: path\n", "\n"), "utf-8")
    trajectory = await episode(PATHS, tool, [Ask("get_shortest_path", WALK)], answer)
    score = explained_score(PATHS, "tools", trajectory, PATHS.read(trajectory.reply))
    assert (score.precision == 1, score.grounded) == (answer == ON_THE_PATH, grounded)


async def test_the_shortest_file_has_pages_and_is_evidence() -> None:
    asks = [Ask("get_targets", {"label": "A", "key": key, "relationship_type": "R"}) for key in ("a1", "a2", "a3")]
    first, *_, last = (trajectory := await episode(COUNT, TARGETS, asks, [{"count": 3}])).results
    assert (first.rows, last.content) == (2, "Note: nothing was found.\n[]")
    shown = Counter((one.source, one.target) for one in observed_graph(trajectory.results).graph().relationships())
    assert shown == {("a1", "b1"): 2, ("a2", "b1"): 1}
    here = await place()
    paged = GraphToolbox(here.store, here.schema, [load_tool(TARGETS)], AgentConfig(result_tokens=40))
    page = await paged.call(ToolCall("1", "get_targets", json.dumps({**asks[0].arguments, "page": 2})))
    assert page.content.startswith("Note: page 2 of 2, rows 2 to 2 of 2 in all.")


@pytest.mark.parametrize("path_first", [True, False])
async def test_a_relationship_of_a_path_is_that_of_its_ends(path_first: bool) -> None:
    looked_up = Ask(*near("B", "key", "b1"))
    asks = [Ask("get_shortest_path", WALK), looked_up][:: 1 if path_first else -1]
    trajectory = await episode(COUNT, SHORTEST_PATH, asks, [{"count": 3}])
    observed = observed_graph(trajectory.results)
    shown = Counter((one.type, one.source, one.properties["w"]) for one in observed.graph().relationships())
    assert (shown, observed.hides_properties) == ({("R", "a1", 1): 2, ("R", "a2", 2): 1, ("S", "b1", 5): 1}, False)
