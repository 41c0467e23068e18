"""The wrappers of a request, in the order in which they are put around a model."""

from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.models.chat import CallOptions, Usage
from graphwalk.models.protocols import with_tools
from graphwalk.models.stack import ModelStack, model_to_check
from graphwalk.models.wrappers import Budget
from tests.models.player import ASK, LOOK, Player, said

TEXT = AgentConfig(tool_format="text")


class Closing(Player):
    """Counts how often it is closed."""

    closed = 0

    async def close(self) -> None:
        self.closed += 1


async def test_an_episode_leaves_the_provider_open_and_the_stack_closes_it() -> None:
    provider = Closing()
    stack = ModelStack(provider, Limits(), budget=Budget())
    await stack.in_episode("a", TEXT).close()
    assert provider.closed == 0
    await stack.shared.close()
    assert provider.closed == 1
    await with_tools(stack.shared, TEXT).close()
    assert provider.closed == 2


async def test_an_agent_with_a_text_protocol_sends_no_tools_and_the_extractor_no_protocol() -> None:
    provider = Player()
    stack = ModelStack(provider, Limits(), budget=Budget())
    await stack.in_episode("player", TEXT).complete(ASK, (LOOK,), CallOptions())
    await stack.in_episode("extractor").complete(ASK, (), CallOptions())
    (messages, tools, _), (plain_messages, _, _) = provider.sent
    assert tools == []
    assert "look" in (messages[0].content or "")
    assert plain_messages == list(ASK)


async def test_all_episodes_share_one_budget() -> None:
    budget = Budget()
    stack = ModelStack(Player(said("hello", usage=Usage(10, 5))), Limits(), budget=budget)
    for key in ("a", "b"):
        await stack.in_episode(key, AgentConfig()).complete(ASK, (), CallOptions())
    assert budget.used.total_tokens == 30


async def test_a_model_to_check_shows_that_its_server_reports_no_usage() -> None:
    reply = await model_to_check(Player(said("hello")), AgentConfig(), print).complete(ASK, (), CallOptions())
    assert reply.usage == Usage()
