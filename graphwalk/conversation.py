"""Ask questions about your own graph: each is a logged episode, answered with evidence."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from graphwalk.agent import Watcher
from graphwalk.analysis.explained import explain_result
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.analysis.suites.ask_evidence import AnswerEvidence, evidence_of, unsupported_because
from graphwalk.config.agent import FOREIGN
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.yaml_files import YamlFile
from graphwalk.errors import ConfigError
from graphwalk.evaluation.suppressed import suppressed
from graphwalk.files.resources import data_path
from graphwalk.models.base import Model
from graphwalk.reports.scene import Scene, SceneCall, scene_of
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun
from graphwalk.runs.manifest import keep_texts, new_manifest
from graphwalk.runs.plan import Plan, PlannedEpisode, PlannedGraph
from graphwalk.runs.play import RunModels, play
from graphwalk.runs.record import EpisodeKey, Result
from graphwalk.runs.resolve import Experiment, resolve
from graphwalk.sanitise import escape_markup, one_line
from graphwalk.stores.base import GraphStore
from graphwalk.suites.ask.suite import AskSuite
from graphwalk.suites.ask.task import AskTask, Exchange, FreeQuestion, task_about
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.tools.observed import observed_graph
from graphwalk.types.episode import ExitStatus
from graphwalk.types.wire import to_dict
from graphwalk.variables import Variables


@dataclass(frozen=True)
class Answer:
    """A model's answer. `answer` is None if there is none; `exit_status` and `error` give the reason.

    `steps` are the tool calls, `evidence` the nodes and relationships that support the answer. `cost` is in US
    dollars, None if unknown. `scene` is what terminal and page show, `result` the whole episode as logged.
    """

    result: Result
    scene: Scene
    evidence: AnswerEvidence
    missing: str = ""
    """The phrase about missing evidence, if an error prevented it."""
    unsupported: str = ""
    """Why no tool result can support the answer; "" if one may, or if there is no answer."""
    grounded: float | None = None
    """Share of the cited keys that tool results show; None if none is cited."""

    def __repr__(self) -> str:
        """Return one line: question, answer or the reason for none, and the numbers of tool calls and evidence."""
        answer = self.exit_status if self.answer is None else one_line(self.answer, 100)
        size = f"{len(self.steps)} tool calls, {len(self.evidence.nodes)} nodes as evidence"
        return f"<Answer to {one_line(self.question, 60)} · {answer} · {size}>"

    @classmethod
    def of(cls, result: Result) -> "Answer":
        evidence, missing = AnswerEvidence(), list[str]()
        record = result.as_dict()
        scene = scene_of(record, result.trajectory)
        with suppressed("evidence", missing.append):
            scene = analysis_of(AskSuite()).scene(AskTask.model_validate(result.task), record)
            seen = observed_graph(result.trajectory.results)
            evidence = evidence_of(str(result.task["question"]), result.answer, seen)
        reason = unsupported_because(str(result.task["question"]), result.answer, result.trajectory.results)
        grounded = None if result.score is None else explain_result(result)["grounded"]
        return cls(result, scene, evidence, "".join(missing), reason, grounded)

    @property
    def question(self) -> str:
        return str(self.result.task["question"])

    @property
    def answer(self) -> str | None:
        return None if self.result.answer is None else str(self.result.answer)

    @property
    def exit_status(self) -> ExitStatus:
        return self.result.exit_status

    @property
    def error(self) -> str | None:
        return self.result.trajectory.error

    @property
    def steps(self) -> Sequence[SceneCall]:
        return self.scene.calls

    @property
    def cost(self) -> float | None:
        return self.result.usage.cost

    @property
    def conversation(self) -> tuple[Exchange, ...]:
        """The questions and answers up to this one, which a follow-up question contains."""
        earlier = AskTask.model_validate(self.result.task).earlier
        return (*earlier, Exchange(question=self.question, answer=self.answer or ""))

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON data."""
        return {
            "question": self.question,
            "answer": self.answer,
            "exit_status": str(self.exit_status),
            "error": self.error,
            "steps": [step.as_dict() for step in self.steps],
            "evidence": self.evidence.as_dict(),
            "unsupported": self.unsupported or None,
            "grounded": self.grounded,
            "model": self.result.key.model,
            "usage": to_dict(self.result.usage),
            "cost": self.cost,
            "seconds": round(self.result.seconds, 6),
            "tool_seconds": round(self.result.trajectory.tool_seconds, 6),
        }

    def _repr_html_(self) -> str:
        text = self.answer or f"no answer ({self.exit_status}): {self.error or 'the reply was empty'}"
        lines = "<br>".join(map(escape_markup, text.splitlines()))
        if self.unsupported:
            lines = f'<strong style="color: #c00">Not supported: {escape_markup(self.unsupported)}</strong><br>{lines}'
        return f"<p>{lines}</p>"


def asking(
    source: GraphSource | None,
    model: str,
    variables: Variables,
    *,
    questions: Sequence[str] = (),
    overrides: Sequence[str] = (),
    agent: Mapping[str, Any] | None = None,
    small: bool = False,
    objects: Mapping[str, Model] | None = None,
) -> Experiment:
    """Return the experiment of `graphwalk ask`; `source`: None if the graph is open already and nothing is logged.

    `small`: with templates/profiles/small.yaml for what is not set.

    Raise ConfigError for an unknown model, a missing key or a wrong override.
    """
    profile = YamlFile.read(data_path("templates") / "profiles" / "small.yaml").data if small else {}
    data = {
        "name": "ask",
        "suite": {
            "name": "ask",
            "graphs": [] if source is None else [source.model_dump(mode="json", exclude_none=True)],
            "questions": list(questions),
        },
        "models": [model],
        "agent": {
            **FOREIGN,
            **profile.get("agent", {}),
            **(agent or {}),
        },
        "options": profile.get("options", {}),
    }
    return resolve(load_experiment(data, overrides), variables, objects=objects)


@dataclass
class Conversation:
    """Questions about one graph (`open_conversation`). A follow-up has earlier questions and answers, not results."""

    _experiment: Experiment
    _graph: PlannedGraph
    _models: RunModels
    _log: NewRun | None
    _watcher: Watcher
    _earlier: list[Exchange]
    _plan: Plan
    _questions: list[FreeQuestion] = field(default_factory=list)

    async def ask(self, question: str) -> Result:
        """Play and log an episode; failures are in the result. ConfigError if empty, RunLogError if not logged."""
        if not question.strip():
            raise ConfigError("the question is empty", hint='graphwalk ask "Which …?"')
        free = FreeQuestion(question=question.strip(), earlier=tuple(self._earlier))
        self._questions.append(free)
        config = self._experiment.config
        task = task_about(free, len(self._questions), self._graph.about.instance.digest, config.seed)
        key = EpisodeKey(task.task_id, self._experiment.models[0], config.settings[0], 0)
        planned = PlannedEpisode(key, task, self._graph)
        self._plan.tasks.append((task, self._graph))
        self._plan.episodes.append(planned)
        manifest = self._manifest()
        options = replace(self._experiment.options, on_text=self._watcher.wrote if self._watcher.live else None)
        experiment = replace(self._experiment, options=options)
        result = await play(planned, self._models, experiment, self._watcher)
        if self._log is not None and manifest is not None:
            with closing(self._log.folder.results_writer()) as writer:
                writer.append(result.as_dict())
        self._earlier.append(Exchange(question=free.question, answer=result.answer or ""))
        return result

    def _manifest(self) -> dict[str, Any] | None:
        """Write `run.json` with the question before it is asked, so that an interrupted run names it."""
        if self._log is None:
            return None
        config = self._experiment.config
        suite = config.suite.model_copy(update={"questions": tuple(self._questions)})
        self._experiment = replace(self._experiment, config=config.model_copy(update={"suite": suite}))
        manifest = new_manifest(self._experiment, self._plan, self._log.run_id, self._log.created)
        keep_texts(self._log.folder, self._experiment)
        self._log.folder.write_manifest(manifest)
        return manifest


@asynccontextmanager
async def open_conversation(
    experiment: Experiment,
    store: GraphStore,
    instance: GraphInstance,
    *,
    log: NewRun | None = None,
    watcher: Watcher | None = None,
    earlier: Sequence[Exchange] = (),
    note: Callable[[str], object] = lambda text: None,
) -> AsyncIterator[Conversation]:
    """Open a conversation about an opened graph, logged in `log` (None: not logged). `note` gets messages."""
    replies = None if log is None else log.folder.replies_path
    lock = nullcontext() if log is None else log.folder.lock()
    async with RunModels(experiment, replies, note=note) as models:
        with lock:
            graph = PlannedGraph(LoadedGraph(instance, store))
            yield Conversation(experiment, graph, models, log, watcher or Watcher(), [*earlier], Plan([graph]))
