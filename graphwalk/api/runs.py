"""Tasks with verified answers, single episodes, and runs."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from graphwalk.analysis.explained import explained
from graphwalk.analysis.rescore import rescore_run
from graphwalk.analysis.suite_analysis import check_reference, score_fields
from graphwalk.background import blocking
from graphwalk.errors import ConfigError
from graphwalk.models.registry import AnyModel, named_models
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.play import play_task, resume_run, start_run
from graphwalk.runs.progress import Progress, run_progress
from graphwalk.runs.record import EpisodeKey, Result, episode_row
from graphwalk.runs.resolve import resolve
from graphwalk.stores.open import AnyGraph, graph_in_memory
from graphwalk.suites.questions.make_tasks import tasks_on
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.suite import Task
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure


async def amake_tasks(
    graph: AnyGraph, *, seed: int = 0, questions: Sequence[str] | None = None, per_question: int = 1
) -> list[QuestionTask]:
    """Return `per_question` tasks of every question kind about a graph. `questions`: these kinds (None: all).

    A task has its `question`, the `target` (rows as dictionaries), the Cypher that computes it, and the number
    of the expert's calls (`reference_calls`).

    Raise ConfigError for an unknown kind or one without tasks on this graph, OracleError if Cypher and Python disagree.
    """
    graph = await graph_in_memory(graph)
    tasks = await tasks_on(graph, seed=seed, questions=questions, per_question=per_question)
    return list(tasks.asked)


make_tasks = blocking(amake_tasks)


async def aplay(
    task: Task,
    graph: AnyGraph,
    *,
    model: AnyModel | None = None,
    setting: str = "tools",
    store: str = "embedded",
    seed: int = 0,
    neo4j_auth: Any = None,
    callbacks: Iterable[Any] | None = None,
    **agent: Any,
) -> Result:
    """Let a model try one task about `graph`, and score its answer, without writing a run folder.

    `model`: "provider/model", "scripted/expert", or an object with `async complete(messages, tools, options)`.
    `setting`: "tools", "no_tools" (the whole graph as text) or "write_cypher" (own queries). `seed`: random seed of
    scripted agents. `neo4j_auth`: as for `open_store`. `callbacks`: as for `ask`. `agent`: fields of an experiment's
    agent: `turn_limit=10`, `encoding="compact"`, …

    The result has `answer`, `score` (None after an infrastructure error, see `trajectory.error`) and
    `trajectory.turns`, each with the `message` of the model and the `results` of its tool calls. Raise ConfigError for
    invalid arguments, StoreError if the store cannot be reached.
    """
    variables = replace(read_variables(), neo4j_auth=neo4j_auth, callbacks=list(callbacks or ()))
    names, objects = named_models([model], variables)
    data = {"name": "play", "suite": {"name": task.suite}, "models": names, "settings": [setting], "seed": seed}
    config = load_experiment({**data, "store": store, "agent": agent})
    return await play_task(resolve(config, variables, objects=objects), task, await graph_in_memory(graph))


play = blocking(aplay)


OnResult = Callable[[Result], None]


@dataclass(frozen=True)
class Run:
    """A run folder with its configuration and results. `graphwalk resume | report | rescore` read it too.

    It is printed as its verdict and its first table, in a notebook too.
    """

    path: Path

    def records(self) -> list[dict[str, Any]]:
        """Return a flat dictionary per episode, all with the same keys.

        Fields of the episode: `task_id`, `model`, `setting`, `repeat`, `exit_status`, `answer`, `turns`, `tool_calls`,
        `seconds`, `tool_seconds`. Fields of the score keep their names (`correct`, `f1`, …; None without a score).
        Fields of task, graph and usage begin with `task_`, `graph_` and `usage_`.
        """
        fields = score_fields(self._folder)
        rows = [episode_row(result, fields) for result in self.results()]
        # Graphs from a file have other facts than generated ones. A dictionary without values keeps the order of names.
        all_names: dict[str, None] = {}
        for row in rows:
            all_names.update(dict.fromkeys(row))
        return [{name: row.get(name) for name in all_names} for row in rows]

    def to_polars(self) -> "polars.DataFrame":
        """Return `records()` as a data frame of polars; lists and maps are JSON, values of several types text."""
        from graphwalk.analysis.exports.tables import data_frame

        return data_frame(self.records())

    def to_pandas(self) -> "pandas.DataFrame":
        """Return `to_polars()` as a data frame of pandas. Raise ConfigError if pandas is not installed."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ConfigError("to_pandas needs pandas", hint="pip install pandas, or use to_polars()") from error
        # Not polars' own `to_pandas`, which needs pyarrow.
        return pandas.DataFrame(self.to_polars().to_dict(as_series=False))

    def results(self) -> Iterator[Result]:
        """Yield every episode with its turns and explanations; of a repeated episode, the last result."""
        last: dict[EpisodeKey, Result] = {}
        for record in explained(self._folder):
            result = Result.from_dict(record)
            last[result.key] = result
        return iter(last.values())

    def report(self, *, names: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
        """Return the tables as data: `rows` (one per model and setting), `baselines`, `groups`, `comparisons`, …

        `names`: other names of models, {"openai/gpt-4.1": "large"}. Raise ConfigError for the name of no model.
        """
        from graphwalk.analysis.report.report import report_of  # brings polars and scipy

        return report_of(self._folder, names=names).as_dict()

    def text(
        self,
        form: Literal["text", "markdown", "csv", "json", "latex"] = "text",
        *,
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """Return the tables as text. `names`: as for `report`."""
        from graphwalk.analysis.report.formats import as_text, to_csv, to_json, to_latex, to_markdown
        from graphwalk.analysis.report.report import origin_of, report_of

        report = report_of(self._folder, names=names)
        if form == "latex":
            return to_latex(report, origin_of(self._folder))
        write = {"text": as_text, "markdown": to_markdown, "csv": to_csv, "json": to_json}
        return write[form](report)

    def compare(self, *others: "Run | str | Path", **options: Any) -> dict[str, Any]:
        """Compare the contestants of this run, and of other runs of the same tasks: see `graphwalk.compare`."""
        return compare(self, *others, **options)

    def plot(self, name: str = "accuracy-by-model", *, names: Mapping[str, str] = MappingProxyType({})) -> "Figure":
        """Draw a plot of the report, which a notebook shows and `savefig` writes. `names`: as for `report`.

        Raise ConfigError for an unknown name, with those of this run, or if matplotlib is not installed.
        """
        from graphwalk.analysis.report.plot_files import canvas_of
        from graphwalk.analysis.report.plots import plots_of
        from graphwalk.analysis.report.report import report_of

        plots = {plot.name: plot for plot in plots_of(report_of(self._folder, names=names))}
        if name not in plots:
            raise ConfigError(f"this run has no plot {name!r}", hint=f"one of: {', '.join(plots) or 'none yet'}")
        # The figure is drawn then; the style, which ends here, is no longer needed.
        with canvas_of(plots[name], "path") as figure:
            return figure

    async def aresume(
        self,
        *,
        models: Iterable[AnyModel] = (),
        on_result: OnResult | None = None,
        neo4j_auth: Any = None,
        callbacks: Iterable[Any] | None = None,
        **limits: Any,
    ) -> "Run":
        """Continue an interrupted run. Finished episodes are kept, failed ones repeated.

        Pass `models`, `neo4j_auth` and `callbacks` as to `run`. `limits`: fields of the experiment's limits, for
        example `budget_usd`.

        Raise RunLogError if the configuration or the code has changed.
        """
        variables = replace(read_variables(), neo4j_auth=neo4j_auth, callbacks=list(callbacks or ()))
        _, objects = named_models(models, variables)
        with _progress(on_result) as progress:
            await resume_run(self._folder, variables, progress, limits, objects)
        return self

    resume = blocking(aresume)

    def rescore(self) -> int:
        """Score all answers again with the scorer of this version; how many scores changed."""
        return rescore_run(self._folder)[0]

    @property
    def _folder(self) -> RunFolder:
        return RunFolder(self.path)

    def __str__(self) -> str:
        """Return verdict and first table; of a conversation, where it is."""
        from graphwalk.analysis.report.formats import as_text
        from graphwalk.analysis.report.report import report_of

        if self._folder.is_conversation:
            return repr(self)
        return as_text(report_of(self._folder), tables=1)

    def _repr_markdown_(self) -> str | None:
        from graphwalk.analysis.report.formats import to_markdown
        from graphwalk.analysis.report.report import report_of

        if self._folder.is_conversation:
            return None
        return to_markdown(report_of(self._folder), tables=1)


def open_run(path: Path | str) -> Run:
    """Open an existing run, finished or not. Raise RunLogError if the folder contains none."""
    return Run(RunFolder.open(Path(path)).path)


async def arun(
    experiment: str | Path | Mapping[str, Any],
    *,
    models: Iterable[AnyModel] | None = None,
    out: Path | str | None = None,
    graphs: int | None = None,
    on_result: OnResult | None = None,
    neo4j_auth: Any = None,
    callbacks: Iterable[Any] | None = None,
    **overrides: Any,
) -> Run:
    """Run an experiment: a name ("quickstart"), the path of a YAML file, or a dictionary.

    `models`: names or objects with `complete` (None: those of the experiment, else scripted agents). `graphs`: number
    of graphs, mazes or traces of each kind. `out`: run folder, by default runs/TIME-NAME-ID. `on_result`: called with
    every finished episode; an error of it is logged. `neo4j_auth`: as for `open_store`. `callbacks`: as for `ask`.
    `overrides`: fields of the experiment: `limit=10`, `settings=["no_tools"]`, `agent={"turn_limit": 10}` (other fields
    of `agent` are kept).

    Continue an interrupted run with `resume`. Raise ConfigError for an invalid experiment before any call. A failing
    model ends its episode, not the run.
    """
    variables = replace(read_variables(), neo4j_auth=neo4j_auth, callbacks=list(callbacks or ()))
    names, objects = named_models(models or (), variables)
    flags: dict[str, Any] = {}
    if models is not None:
        flags["models"] = names
    for key, value in overrides.items():
        if _has_fields(value):
            # agent={"turn_limit": 10} → agent.turn_limit, which keeps the other fields of agent
            for name, inner in value.items():
                flags[f"{key}.{name}"] = inner
        else:
            flags[key] = value

    source = str(experiment) if isinstance(experiment, Path) else experiment
    resolved = resolve(load_experiment(source, flags=flags, graphs=graphs), variables, objects=objects)
    if resolved.config.reference is not None:
        check_reference(resolved.suite, resolved.config.reference)
    # Only now: an experiment that cannot be played leaves no folder.
    new = NewRun.make(resolved.config.name, None if out is None else Path(out))
    with _progress(on_result) as progress:
        await start_run(resolved, new, progress)
    return Run(new.folder.path)


run = blocking(arun)


def _has_fields(value: Any) -> bool:
    """Tell whether a value is a dictionary of fields, not of models or servers by name ("openai/gpt-4.1")."""
    return isinstance(value, Mapping) and all(isinstance(name, str) and name.isidentifier() for name in value)


def compare(
    *runs: Run | str | Path,
    models: Sequence[str] = (),
    settings: Sequence[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Compare all pairs of model and setting in one or more runs on the tasks that both played.

    `models` and `settings`: only these. `names`: other names of models.

    Return the data of `graphwalk compare --json`: `overall` has a
    dictionary for each pair, with `first_model`, `first_setting`, `second_model`, `second_setting`, and `measures`:
    for each measure the `difference` first − second (percentages in percentage points), its 95 % `interval` and
    `p_value` (None if they cannot be computed), and the number of `tasks`.

    Raise RunLogError if a run cannot be read or the runs do not share identical tasks, ConfigError if there are fewer
    than two models and settings to compare.
    """
    from graphwalk.analysis.report.compare import compare_runs
    from graphwalk.analysis.report.formats import to_json

    paths = [run.path if isinstance(run, Run) else Path(run) for run in runs]
    comparison = compare_runs(paths, models=models, settings=settings, names=names)
    # By way of JSON: what the command prints and what Python gets can never differ.
    return dict(json.loads(to_json(comparison)))


def _progress(on_result: OnResult | None) -> AbstractContextManager[Progress]:
    """Return the progress that calls `on_result`, and is shown in a notebook."""
    return run_progress(on_result) if "ipykernel" in sys.modules else nullcontext(Progress(on_result))
