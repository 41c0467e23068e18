"""`graphwalk play`: a person takes the place of the model, with the same loop, prompt, tools and score."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli.view import show
from graphwalk.console import data, printable
from graphwalk.environment import read_environment
from graphwalk.errors import ConfigError

if TYPE_CHECKING:
    from graphwalk.experiments.config import AnyExperiment
    from graphwalk.models.model import Model
    from graphwalk.suites.suite import Suite
    from graphwalk.types.episode import Task

_SHORT = {"index": "offset"}


def play(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="A suite, one of its tasks (maze), or an experiment.")],
    setting: Annotated[str | None, typer.Option(help="Default: the first one of the suite or experiment.")] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same task.")] = None,
    turn_limit: Annotated[int, typer.Option(min=1, help="Calls before the answer is asked for.")] = 60,
    out: Annotated[Path | None, typer.Option(help="A file for the pictures, if the suite draws any.")] = None,
) -> None:
    """Take the place of the model.

    You see what a model reads, and what you type becomes its tool calls and its answer. Every field of the suite is an
    option too: graphwalk play maze --size 8 --walls 0.4
    """
    from graphwalk.models.players.person import LineReader, Person
    from graphwalk.runner.one_episode import play_first
    from graphwalk.runner.resolve import resolve

    experiment = resolve(_experiment(what, setting, seed, turn_limit, context.args), read_environment())
    read = LineReader()

    def sit_down(task: "Task") -> "Model":
        return experiment.suite.person(task, read) or Person(read)

    result = run_async(play_first(experiment, sit_down))
    pictures = experiment.suite.pictures()
    if pictures is not None:
        show(pictures, [result.as_dict()], None, what)
        if out is not None:
            show(pictures, [result.as_dict()], out, what)
        return
    score = result.score or {}
    target = "" if score.get("correct") else f"; the target: {result.task['gold']}"
    data(printable(f"{'right' if score.get('correct') else 'not right'}: {result.answer}{target}"))


def _experiment(
    what: str, setting: str | None, seed: int | None, turn_limit: int, words: Sequence[str]
) -> "AnyExperiment":
    """The experiment to play: one world, one task, one person."""
    from graphwalk.config.yaml_files import set_dotted, validate
    from graphwalk.experiments.config import experiment_type
    from graphwalk.experiments.loading import load_experiment
    from graphwalk.suites.registry import SUITES, suite_class

    suites = {name: suite_class(name) for name in SUITES.names()}
    chosen = next((suite for name, suite in suites.items() if what in (name, suite.thing)), None)
    if chosen is None:
        fields = load_experiment(what).model_dump(mode="json")
        suite = suites[fields["suite"]["name"]]
        setting = setting or fields["settings"][0]
    else:
        fields, suite = {"name": "play", "suite": {"name": chosen.name, chosen.worlds_field: [{}]}}, chosen
    given = {"models": ["human/terminal"], "settings": [setting or suite.settings[0]], "limit": 1, "repeats": 1}
    given |= {"agent.turn_limit": turn_limit} | ({} if seed is None else {"seed": seed})
    for key, value in {**given, **dict(_fields(words, suite))}.items():
        set_dotted(fields, key, value, f"play {what}")
    return validate(experiment_type(fields), fields, f"play {what}", folder=Path.cwd())


def _fields(words: Sequence[str], suite: "type[Suite[Any, Any]]") -> Iterator[tuple[str, Any]]:
    """`--some-field value` as dotted keys; a flag alone means true. ConfigError for an unknown field."""
    from graphwalk.config.yaml_files import parse_value

    suite_fields = set(suite.config_type.model_fields) - {"name", suite.worlds_field}
    left = list(words)
    while left:
        flag, sign, text = left.pop(0).partition("=")
        if not flag.startswith("--"):
            raise ConfigError(f"{flag!r} is no option", hint="graphwalk play --help")
        name = flag.removeprefix("--").replace("-", "_")
        name = _SHORT.get(name, name)
        if not sign:
            text = left.pop(0) if left and not left[0].startswith("--") else "true"
        place = "suite" if name in suite_fields else f"suite.{suite.worlds_field}.*"
        yield f"{place}.{name}", parse_value(text, flag)
