"""Models as Python programs pass them: names, objects with `complete`, or LangChain models."""

from collections.abc import Iterable, Mapping
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.models.base import Model
from graphwalk.models.registry import EPISODE_PROVIDERS, open_model
from graphwalk.models.scripted import ScriptedChatModel
from graphwalk.models.wrappers import Guarded
from graphwalk.suites.own_questions.look import look_in_words
from graphwalk.variables import Variables

AnyModel = Any
"""`provider/model`, an object with `async complete(messages, tools, options) -> Reply`, a LangChain chat model, or what
`openai_model` makes of a client of the `openai` package."""
LOOK = "scripted/look"


def as_model(model: AnyModel, variables: Variables, arguments: Mapping[str, Any] | None = None) -> Model:
    """Return any of the forms of a model, or "scripted/look", as a `Model`. ConfigError for everything else."""
    if model == LOOK:
        return Guarded(ScriptedChatModel(LOOK, look_in_words), variables, LOOK)
    if isinstance(model, str):
        return open_model(model, variables, arguments)
    if not isinstance(model, type) and hasattr(model, "bind_tools") and hasattr(model, "ainvoke"):
        from graphwalk.models.langchain import LangchainModel

        model = LangchainModel(model)
    return Guarded(model, variables, _name_of(model), lent=True)


def named_models(models: Iterable[AnyModel], variables: Variables) -> tuple[tuple[str, ...], Mapping[str, Model]]:
    """Return all names, and the objects by name: their `name`, else `python/CLASS`. ConfigError if two are equal."""
    names: list[str] = []
    objects: dict[str, Model] = {}
    for entry in [models] if isinstance(models, str) else models:
        if isinstance(entry, str):
            names.append(entry)
            continue
        model = as_model(entry, variables)
        if model.name in names:
            raise ConfigError(f"two models have the name {model.name}", hint="set distinct names: provider/model")
        names.append(model.name)
        objects[model.name] = model
    return tuple(names), objects


def _name_of(model: Any) -> str:
    if not callable(getattr(model, "complete", None)) or isinstance(model, type):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"{type(model).__name__} object"
        client = hasattr(model, "chat") and hasattr(model, "base_url")
        forms = 'pass "provider/model", an object with `async complete(messages, …)`, or a LangChain chat model'
        hint = 'for a client pass graphwalk.openai_model(client, "NAME")' if client else forms
        raise ConfigError("model is missing" if model is None else f"{what} is not a model", hint=hint)
    name = getattr(model, "name", None)
    if not isinstance(name, str) or not name:
        return f"python/{type(model).__name__}"
    if name.partition("/")[0] in EPISODE_PROVIDERS:
        raise ConfigError(f"model name {name} is reserved")
    return name
