"""`graphwalk play`: a person takes the place of the model, with the same loop, prompt, tools and score."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli.view import drawn_format, write_pictures
from graphwalk.console import draw, say
from graphwalk.environment import read_environment
from graphwalk.errors import ConfigError

if TYPE_CHECKING:
    from graphwalk.experiments.config import AnyExperiment
    from graphwalk.suites.suite import Suite

_SHORT = {"index": "offset"}


def play(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="A suite, one of its tasks (graph, maze, trace), or an experiment.")],
    setting: Annotated[str | None, typer.Option(help="Default: the first one of the suite or experiment.")] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same task.")] = None,
    store: Annotated[str | None, typer.Option(help="Where the graph is kept.")] = None,
    turn_limit: Annotated[int, typer.Option(min=1, help="Calls before the answer is asked for.")] = 60,
    out: Annotated[
        Path | None, typer.Option(help="FILE.html: the episode as a page; other forms if the suite draws any.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Play task after task, logged and scored as human/NAME; for a run: needed.")
    ] = None,
) -> None:
    """Take the place of the model.

    You see what a model reads, and what you type becomes its tool calls and its answer. Every field of the suite is an
    option too: graphwalk play maze --size 8 --walls 0.4. With --name you stand in the report, beside the models where
    WHAT is a run folder.
    """
    from graphwalk.cli.play_logged import play_in_run, play_new_run, tell, typed_lines
    from graphwalk.runs.episode import play_first
    from graphwalk.runs.experiment import resolve

    if _suite(what) is None and (Path(what) / "run.json").exists():
        play_in_run(Path(what), name, setting)
        return
    given = {"settings": setting and [setting], "seed": seed, "store": store, "agent.turn_limit": turn_limit}
    config = _experiment(what, {key: value for key, value in given.items() if value is not None}, context.args)
    experiment = resolve(config, read_environment(), person=True)
    if name is not None:
        play_new_run(experiment, name)
        return
    suite = experiment.suite
    if out is not None:
        drawn_format(suite, out)
    result = run_async(play_first(experiment, typed_lines()))
    pictures = suite.presentation.pictures
    for drawing in pictures.drawings([result.as_dict()]) if pictures is not None else ():
        draw(drawing)
    if out is not None:
        write_pictures(suite, [result.as_dict()], out, what)
    tell(result)
    if result.score is None:
        raise typer.Exit(4)


def _experiment(what: str, given: dict[str, Any], words: Sequence[str]) -> "AnyExperiment":
    """What is played: one graph of a suite, or of an experiment, and one person."""
    from graphwalk.config.yaml_files import set_dotted, validate
    from graphwalk.experiments.config import experiment_type
    from graphwalk.suites.registry import suite_class

    suite = _suite(what)
    if suite is not None and not suite.judged:
        raise ConfigError(f"nobody knows the right answers of the suite {suite.name}", hint="graphwalk ask")
    if suite is None:
        data = _shipped_or_own(what).model_dump(mode="json")
        suite = suite_class(data["suite"]["name"])
    else:
        data = {"name": "play", "suite": {"name": suite.name, suite.graphs_field: [{"count": 1}]}}
        data["settings"] = [suite.settings[0]]
    person = {"models": ["human/terminal"], "repeats": 1, "limit": None, "extractor": None}
    for key, value in {**person, **given, **dict(_fields(words, suite))}.items():
        set_dotted(data, key, value, f"play {what}")
    data["settings"] = data["settings"][:1]
    return validate(experiment_type(data), data, f"play {what}", folder=Path.cwd())


def _shipped_or_own(what: str) -> "AnyExperiment":
    from graphwalk.experiments.loading import find_experiment, load_experiment
    from graphwalk.suites.registry import SUITES

    try:
        find_experiment(what)
    except ConfigError as error:
        raise ConfigError(str(error), hint=f"{error.hint}; or one of {', '.join(SUITES.names())}") from error
    return load_experiment(what)


def _suite(what: str) -> "type[Suite[Any, Any]] | None":
    """The suite of this name, or with things of this kind; None: `what` must be an experiment."""
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


def _fields(words: Sequence[str], suite: "type[Suite[Any, Any]]") -> Iterator[tuple[str, Any]]:
    """`--some-field value` as dotted keys; a flag alone means true. ConfigError for an unknown field."""
    from graphwalk.config.yaml_files import parse_value

    suite_fields = set(suite.config_type.model_fields) - {"name", suite.graphs_field}
    left = list(words)
    while left:
        flag, sign, text = left.pop(0).partition("=")
        if not flag.startswith("--"):
            raise ConfigError(f"{flag!r} is not an option", hint="graphwalk play --help")
        name = flag.removeprefix("--").replace("-", "_")
        name = _SHORT.get(name, name)
        if not sign:
            text = left.pop(0) if left and not left[0].startswith("--") else "true"
        place = "suite" if name in suite_fields else f"suite.{suite.graphs_field}.*"
        yield f"{place}.{name}", parse_value(text, flag)
