"""Scripted agents of suites, for tests."""

from typing import Any

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, run_episode
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import CallOptions
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.models.trajectory import Trajectory
from graphwalk.seeds import stdlib_random
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.suite import Suite
from tests.explained import explained_score


def policy_of(
    suite: Suite[Any, Any], name: str, task: Any, setting: str = "tools", schema: Schema | None = None, seed: int = 0
) -> Policy:
    """Return the agent of this name for one episode."""
    player = suite.scripted_agents[name]
    return player.policy(task, setting, schema, stdlib_random(seed, *player.purpose, task.task_id))


async def played(
    policy: Policy, task: Any, about: LoadedGraph, setting: str = "tools", agent: AgentConfig = AgentConfig()
) -> tuple[Any, Trajectory]:
    """Play one episode in the agent's loop, and score its answer as in a run."""
    prompt, options = (
        await task.prompt(about, setting, agent),
        CallOptions(parallel_tool_calls=agent.parallel_tool_calls),
    )
    trajectory = await run_episode(
        Episode(Conversation(prompt, agent), ScriptedModel("scripted/test", policy), options)
    )
    return explained_score(task, setting, trajectory, task.read(trajectory.reply)), trajectory
