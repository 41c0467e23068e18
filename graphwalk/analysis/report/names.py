"""Names of models and contestants in reports, comparisons, pages and plots."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphwalk.analysis.report.rows import Contestant
from graphwalk.errors import ConfigError
from graphwalk.sanitise import one_line


def check_model_names(names: Mapping[str, str], configs: Sequence[Mapping[str, Any]]) -> None:
    """Raise ConfigError if `names` names a model that no run has, or two models of a run alike."""
    models: set[str] = set()
    for config in configs:
        models.update(_models_of(config))
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
    of_run = dict(config["names"])
    for model in _models_of(config):
        if model in names:
            of_run[model] = names[model]
    return of_run


def _models_of(config: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*config["models"], *config["names"]]))


def contestant_names(contestants: Sequence[Contestant]) -> dict[Contestant, str]:
    """Return a name for each contestant: its model, its setting or both, without what all models have in common.

    Example: openai-api/local/a and openai-api/local/b, in one setting, are a and b.
    """
    models = model_names([contestant.model for contestant in contestants])
    settings = {contestant.setting for contestant in contestants}
    # A single contestant has the name of its model.
    with_model = len(models) > 1 or len(settings) < 2
    with_setting = len(settings) > 1

    names = {}
    for contestant in contestants:
        parts = []
        if with_model:
            parts.append(models[contestant.model])
        if with_setting:
            setting = str(contestant.setting)
            parts.append(one_line(setting, len(setting)))
        names[contestant] = " ".join(parts)
    return names


def model_names(models: Sequence[str]) -> dict[str, str]:
    """Return models without the parts, separated by slashes, with which all of them begin."""
    # "openai-api/local/a" has the parts openai-api, local and a.
    parts_of = {model: model.split("/") for model in models}
    common = _common_parts(list(parts_of.values()))
    names = {}
    for model, parts in parts_of.items():
        name = "/".join(parts[common:])
        names[model] = one_line(name, len(name))
    return names


def _common_parts(names: Sequence[Sequence[str]]) -> int:
    """Return with how many equal parts all names begin: a/b/one and a/b/other begin with 2. A last part stays."""
    if len(names) < 2:
        return 0
    fewest = min(len(parts) for parts in names)
    common = 0
    while common < fewest - 1 and all(parts[common] == names[0][common] for parts in names):
        common += 1
    return common
