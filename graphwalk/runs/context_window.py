"""Warn before the first call if a prompt, or the reply that may follow, does not fit into the context window."""

from collections.abc import Mapping

from graphwalk.errors import GraphwalkError
from graphwalk.models.protocols import protocol_of
from graphwalk.models.tokens import count_messages, count_tokens, tools_text
from graphwalk.runs.plan import Plan, PlannedEpisode
from graphwalk.runs.resolve import ResolvedExperiment, per_episode
from graphwalk.suites.setting import Setting


async def window_warnings(experiment: ResolvedExperiment, plan: Plan, reported: Mapping[str, int]) -> list[str]:
    """Return a line for each model and setting whose first prompt and reply do not fit into the window.

    `reported`: context window by model, as its server reports it. The tokens of a prompt are an estimate.
    """
    # One prompt of each model and setting is counted: this is a warning, which must not take long.
    first: dict[tuple[str, Setting], PlannedEpisode] = {}
    for planned in plan.episodes:
        first.setdefault((planned.key.model, planned.key.setting), planned)

    warnings = []
    for (model, setting), planned in first.items():
        # The smaller one of its server's and the experiment's holds.
        windows = (reported.get(model), experiment.config.limits.context_tokens)
        window = min((tokens for tokens in windows if tokens is not None), default=None)
        if window is None or per_episode(model):
            continue
        output = experiment.of(setting).options.max_output_tokens or 0
        try:
            prompt = await _prompt_tokens(planned, experiment)
        except GraphwalkError:  # the episode itself tells
            continue
        if prompt + output <= window:
            continue
        needed = f"the first prompt (about {prompt:,} tokens)"
        if output:
            needed += f" with options.max_output_tokens ({output:,})"
        warnings.append(f"{model} {setting}: the context window of {window:,} tokens is smaller than {needed}")
    return warnings


async def _prompt_tokens(planned: PlannedEpisode, experiment: ResolvedExperiment) -> int:
    """Return the tokens of the first request of an episode, by our rule, in the form in which it is sent."""
    agent = experiment.of(planned.key.setting).config.agent
    prompt = await planned.prompt(experiment)
    messages, tools = prompt.messages, () if prompt.toolbox is None else prompt.toolbox.specs
    protocol = protocol_of(agent)
    if protocol is not None:
        sent, described, _ = protocol.outgoing(messages, tools, experiment.options)
        return count_messages(sent) + count_tokens(tools_text(described))
    return count_messages(messages) + count_tokens(tools_text(tools))
