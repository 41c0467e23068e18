"""Models as users pass them: by name, as objects with `complete`, or as LangChain chat models."""

from collections.abc import Iterable, Mapping
from typing import Any

from graphwalk.environment import Environment
from graphwalk.errors import ConfigError
from graphwalk.models.base import Model
from graphwalk.models.registry import EPISODE_PROVIDERS, open_model
from graphwalk.models.wrappers import Guarded

AnyModel = Any
"""`provider/model`, an object with `async complete(messages, tools, options) -> Reply`, a LangChain chat model, or what
`openai_model` makes of a client of the `openai` package."""


def as_model(model: AnyModel, environment: Environment) -> Model:
    """Return any of the forms of a model as a `Model`. ConfigError for everything else."""
    if isinstance(model, str):
        return open_model(model, environment)
    if not isinstance(model, type) and hasattr(model, "bind_tools") and hasattr(model, "ainvoke"):
        from graphwalk.models.langchain import LangchainModel

        model = LangchainModel(model)
    return Guarded(model, environment, _name_of(model), lent=True)


def named_models(models: Iterable[AnyModel], environment: Environment) -> tuple[tuple[str, ...], Mapping[str, Model]]:
    """Return the names of all models, and by name those that are objects.

    An object has the name in its `name`, else `python/CLASS`. ConfigError where two have the same name, or one is no
    model.
    """
    names: list[str] = []
    given: dict[str, Model] = {}
    for model in [models] if isinstance(models, str) else models:
        if isinstance(model, str):
            names.append(model)
            continue
        found = as_model(model, environment)
        if found.name in names:
            raise ConfigError(
                f"two models are called {found.name}", hint="give each a `name` of its own: provider/model"
            )
        names.append(found.name)
        given[found.name] = found
    return tuple(names), given


def _name_of(model: Any) -> str:
    if not callable(getattr(model, "complete", None)) or isinstance(model, type):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"{type(model).__name__} object"
        client = hasattr(model, "chat") and hasattr(model, "base_url")
        forms = 'give "provider/model", an object with `async complete(messages, …)`, or a LangChain chat model'
        hint = 'a client needs the name of a model: graphwalk.openai_model(client, "NAME")' if client else forms
        raise ConfigError("model is missing" if model is None else f"{what} is not a model", hint=hint)
    name = getattr(model, "name", None)
    if not isinstance(name, str) or not name:
        return f"python/{type(model).__name__}"
    if name.partition("/")[0] in EPISODE_PROVIDERS:
        raise ConfigError(f"a model of yours cannot be called {name}: that name is taken")
    return name
