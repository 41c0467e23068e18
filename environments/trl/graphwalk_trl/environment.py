"""Environments for TRL's `GRPOTrainer`: a class whose methods are the tools, with `reset` and `get_reward`.

    walking = environment({"name": "train", "suite": {…}})
    rows = Dataset.from_list(rows_of(walking))
    trainer = GRPOTrainer(model=…, train_dataset=rows, environment_factory=walking, reward_funcs=[step_rewards])

TRL is not imported here. All environments of a class share its graphs. `step_rewards` is optional.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, ClassVar, Literal

from graphwalk.background import run_in_background
from graphwalk.errors import ConfigError
from graphwalk.models.chat import ToolSpec
from graphwalk.training.environment import LOOP_OF_ANOTHER, OpenEpisode, TaskEnvironment

_TYPES: Mapping[str, type] = {"string": str, "number": float, "integer": int, "boolean": bool, "array": list}
_ANSWER = ToolSpec(
    "answer",
    "Gives the final answer, in the form that the question asks for. Nothing can be called after it.",
    {"properties": {"answer": {"type": "string", "description": "The answer."}}, "required": ["answer"]},
)


class _Environment:
    """One rollout at a time. TRL takes every method without an underscore for a tool, but for these two."""

    _stage: ClassVar[TaskEnvironment]
    _rows: ClassVar[Sequence[dict[str, Any]]]

    def __init__(self) -> None:
        self._episode: OpenEpisode | None = None

    @property
    def step_rewards(self) -> list[float]:
        """The reward of each call so far. TRL takes no property for a tool."""
        return self._episode.step_rewards if self._episode else []

    def reset(self, task: int = 0, **row: Any) -> None:
        """Start the episode of a row of the data set, which already contains the prompt."""
        self._episode = run_in_background(self._stage.begin(task))

    def get_reward(self) -> float:
        """Return the reward of the answer; an episode without an answer has an empty one."""
        assert self._episode is not None
        while not self._episode.ended:  # a nudge does not end it
            self._episode.reply("")
        return self._episode.earned.total if self._episode.earned else 0.0

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        assert self._episode is not None
        if self._episode.ended:
            return "The answer was given already."
        if name == _ANSWER.name and name in arguments:  # `agent.answer: tool` takes rows
            return self._episode.reply(str(arguments["answer"])) or "The answer is noted."
        (result,) = run_in_background(self._episode.call((name, arguments)))
        return result.content


def environment(experiment: Any, **flags: Any) -> type[Any]:
    """Return an environment class with the tasks of an experiment; `flags` are those of `Stage.open`.

    The answer is a call too: TRL passes the calls of a model to an environment, but not its final text.
    Raise ConfigError if the tasks have different tools.
    """
    stage = run_in_background(TaskEnvironment.open(experiment, lacks=LOOP_OF_ANOTHER, **flags))
    setups = [run_in_background(stage.begin(number)) for number in range(len(stage))]
    tools = list(setups[0].tools)
    if any(list(setup.tools) != tools for setup in setups):
        raise ConfigError(
            "the tasks of a TRL environment must have the same tools",
            hint="use one class per setting; with names_in_tools or answer: tool, one graph and one kind of question",
        )
    members: dict[str, Any] = {spec.name: tool_method(spec) for spec in (_ANSWER, *tools)}
    members["_rows"] = [
        {"prompt": [message.as_openai() for message in setup.prompt], "task": number}
        for number, setup in enumerate(setups)
    ]
    base_members = {name: held for name, held in vars(_Environment).items() if name not in ("__dict__", "__weakref__")}
    return type("GraphwalkEnvironment", (), {**base_members, **members, "_stage": stage})


def rows_of(environment: type[Any]) -> Sequence[dict[str, Any]]:
    """Return the data set of a class: `prompt`, and the number of its `task`."""
    return list(environment._rows)


def step_rewards(environments: Sequence[Any], **columns: Any) -> list[float]:
    """Return the sum of the rewards of steps of each rollout: a reward function for `GRPOTrainer(reward_funcs=…)`.

    It is added to the reward of the answer with its weight in `GRPOConfig(reward_weights=…)`.
    """
    return [sum(one.step_rewards) for one in environments]


def tool_method(spec: ToolSpec) -> Callable[..., str]:
    """Return a method of an environment that calls the tool. TRL makes its schema of the signature and docstring."""
    schemas: Mapping[str, Mapping[str, Any]] = spec.parameters["properties"]
    types = {name: _type(schema) for name, schema in schemas.items()}

    def method(self: _Environment, *positional: Any, **named: Any) -> str:
        return self._call(spec.name, {**dict(zip(schemas, positional, strict=False)), **named})

    required = spec.parameters.get("required", ())
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("self", kind)]
    for name, annotation in types.items():
        default = inspect.Parameter.empty if name in required else 1
        parameters.append(inspect.Parameter(name, kind, annotation=annotation, default=default))
    # TRL reads Google's form: a description, "Args:" with a line for each argument, and "Returns:".
    lines = [spec.description]
    if schemas:
        lines += ["", "Args:"]
    for name, schema in schemas.items():
        lines.append(f"    {name}: {schema['description']}")
    lines += ["", "Returns:", "    The result, as text."]
    method.__name__ = spec.name
    method.__qualname__ = spec.name
    method.__doc__ = "\n".join(lines)
    method.__annotations__ = {**types, "return": str}
    method.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    return method


def _type(schema: Mapping[str, Any]) -> Any:
    """Return the Python type, or a union of several; a list of values is a `Literal`."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    return reduce(or_, (_TYPES[name] for name in names))
