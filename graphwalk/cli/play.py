"""`graphwalk play`: one episode with a person in place of the model, with the same loop, prompt, tools and score."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.cli.help import App
from graphwalk.cli.options import Override
from graphwalk.errors import ConfigError
from graphwalk.evaluation.comments import comment
from graphwalk.settings import read_settings
from graphwalk.terminal.console import draw, prose, say
from graphwalk.terminal.signals import run_async

if TYPE_CHECKING:
    from graphwalk.experiments.experiment import AnyExperiment
    from graphwalk.runs.folder.result import Result
    from graphwalk.suites.suite import Suite

_PERSON = "human/terminal"
app = App()


@app.command("play")
def play(
    what: Annotated[str, typer.Argument(help="Suite, task type (graph, maze, trace) or experiment.")],
    setting: Annotated[str | None, typer.Option(help="Setting. Default: the first of the suite or experiment.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of the task.")] = None,
    store: Annotated[str | None, typer.Option(help="Graph store.")] = None,
    turn_limit: Annotated[int, typer.Option(min=1, help="Maximum number of turns.")] = 60,
    override: Override = None,
) -> None:
    """Play a task yourself, in place of the model.

    You read the model's prompt, and type tool calls and the answer.
    Example: graphwalk play maze -o suite.mazes.0.size=8
    """
    from graphwalk.models.human import HumanPlayer, LineReader
    from graphwalk.runs.episodes.episode import play_first
    from graphwalk.runs.episodes.resolve import resolve

    flags = {"settings": setting and [setting], "seed": seed, "store": store}
    overrides = [f"agent.turn_limit={turn_limit}", *(override or ())]
    config = _experiment(what, {key: value for key, value in flags.items() if value is not None}, overrides)
    experiment = resolve(config, read_settings(), objects={_PERSON: HumanPlayer(LineReader())})
    result = run_async(play_first(experiment))
    with comment("drawing", say, raises=(OSError,)):
        for drawing in experiment.suite.presentation.drawings(result.as_dict()):
            draw(drawing)
    _tell(result)
    if result.score is None:
        raise typer.Exit(4)


def _experiment(what: str, flags: dict[str, Any], overrides: Sequence[str]) -> "AnyExperiment":
    """Return an experiment with one human player, and one graph unless `what` is an experiment."""
    from graphwalk.experiments.loading import find_experiment, load_experiment
    from graphwalk.suites.registry import SUITES

    suite = _suite(what)
    if suite is None:
        try:
            find_experiment(what)
        except ConfigError as error:
            raise ConfigError(str(error), hint=f"{error.hint}; or one of {', '.join(SUITES.names())}") from error
    elif not suite.judged:
        raise ConfigError(f"the suite {suite.name} has no targets to score against", hint="graphwalk ask")
    data: str | dict[str, Any] = what
    if suite is not None:
        data = {"name": "play", "suite": {"name": suite.name, suite.graphs_field: [{"count": 1}]}}
        data["settings"] = [suite.settings[0]]
    person = {"models": [_PERSON], "repeats": 1, "limit": None, "extractor": None}
    config = load_experiment(data, overrides, {**person, **flags})
    return config.model_copy(update={"settings": config.settings[:1]})


def _suite(what: str) -> "type[Suite[Any, Any]] | None":
    """Return the suite with this name or task type, else None."""
    from graphwalk.suites.registry import SUITES, suite_class

    if what in SUITES.names():
        return suite_class(what)
    for name in SUITES.names():
        try:
            if (suite := suite_class(name)).thing == what:
                return suite
        except ConfigError as error:
            say(f"warning: {error}")
    return None


def _tell(result: "Result") -> None:
    if result.score is None:
        say(f"error: the episode failed ({result.exit_status}): {result.trajectory.error}")
        return
    if result.score["correct"]:
        prose(f"correct: {result.answer}")
        return
    verdict = "no answer found" if result.answer is None else f"incorrect: {result.answer}"
    prose(f"{verdict}; target: {result.task['gold']}")
