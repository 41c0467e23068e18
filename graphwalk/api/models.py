"""Models as callers give them: by name, or as objects."""

from collections.abc import Iterable, Mapping
from typing import Any

from graphwalk.environment import Environment
from graphwalk.errors import ConfigError
from graphwalk.models.model import Model
from graphwalk.models.registry import EPISODE_PROVIDERS, OutsideModel

AnyModel = Any
"""`provider/model`, or an object with `async complete(messages, tools, options) -> Reply`."""


class _Lent(OutsideModel):
    """A model that the caller made, and closes."""

    async def close(self) -> None:
        return None


def named_models(models: Iterable[AnyModel], environment: Environment) -> tuple[tuple[str, ...], Mapping[str, Model]]:
    """The names of all models, and by name those that are objects.

    An object is called what its `name` says, else `python/CLASS`. ConfigError where two have the same name, or one has
    no `complete`.
    """
    names: list[str] = []
    given: dict[str, Model] = {}
    for model in [models] if isinstance(models, str) else models:
        if isinstance(model, str):
            names.append(model)
            continue
        name = _name_of(model)
        if name in names:
            raise ConfigError(f"two models are called {name}", hint="give each a `name` of its own: provider/model")
        names.append(name)
        given[name] = _Lent(name, model, environment)
    return tuple(names), given


def _name_of(model: Any) -> str:
    if not callable(getattr(model, "complete", None)) or isinstance(model, type):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"{type(model).__name__} object"
        raise ConfigError(
            f"{what} is not a model", hint='give "provider/model", or an object with `async complete(messages, …)`'
        )
    name = getattr(model, "name", None)
    if not isinstance(name, str) or not name:
        return f"python/{type(model).__name__}"
    if name.partition("/")[0] in EPISODE_PROVIDERS:
        raise ConfigError(f"a model of yours cannot be called {name}: that name is taken")
    return name
