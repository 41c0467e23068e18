"""Names of models and players in reports, comparisons, pages and plots."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.sanitise import one_line

Player = tuple[str, str]
"""Model and setting."""


def check_names(names: Mapping[str, str], configs: Sequence[Mapping[str, Any]]) -> None:
    """Raise ConfigError if `names` names a model that no run has, or two models of a run alike."""
    models = {model for config in configs for model in _models_of(config)}
    unknown = [model for model in names if model not in models]
    if unknown:
        raise ConfigError(
            f"no model {unknown[0]!r} to name", hint=f"--name MODEL=TEXT, of: {', '.join(sorted(models))}"
        )
    for config in configs:
        named = names_of(config, names)
        shown = [named.get(model, model) for model in _models_of(config)]
        alike = [name for name in shown if shown.count(name) > 1]
        if alike:
            raise ConfigError(f"two models have the name {alike[0]!r}", hint="give each model its own name")


def names_of(config: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Return the names that a run gives to its models, with `names` in place of these."""
    models = _models_of(config)
    return {**config["names"], **{model: name for model, name in names.items() if model in models}}


def _models_of(config: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*config["models"], *config["names"]]))


def player_names(players: Sequence[Player], between: str = " ") -> dict[Player, str]:
    """Return a name for each player: its model, its setting or both, without what all models have in common.

    Example: openai-api/local/a and openai-api/local/b, in one setting, are a and b.
    """
    models = model_names([model for model, _ in players])
    settings = dict.fromkeys(setting for _, setting in players)
    with_model = len(models) > 1 or len(settings) < 2
    with_setting = len(settings) > 1

    names = {}
    for model, setting in players:
        parts = []
        if with_model:
            parts.append(models[model])
        if with_setting:
            parts.append(one_line(setting, len(setting)))
        names[model, setting] = between.join(parts)
    return names


def model_names(models: Sequence[str]) -> dict[str, str]:
    """Return models without the parts, separated by slashes, with which all of them begin."""
    distinct = dict.fromkeys(models)
    parts_of = {model: model.split("/") for model in distinct}
    fewest = min((len(parts) for parts in parts_of.values()), default=1)

    # The last part stays, and so does everything of a model alone.
    common = 0
    while len(distinct) > 1 and common < fewest - 1:
        if len({parts[common] for parts in parts_of.values()}) > 1:
            break
        common += 1
    names = {model: "/".join(parts[common:]) for model, parts in parts_of.items()}
    return {model: one_line(name, len(name)) for model, name in names.items()}
