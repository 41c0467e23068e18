"""The folder of a conversation: run.json, and a line for each answer, which `show`, `view` and `export` read."""

import json
from contextlib import ExitStack, closing
from pathlib import Path

from graphwalk.config.graph_source import GraphSource
from graphwalk.files.json_lines import LineWriter
from graphwalk.own_graph.answer import Answer
from graphwalk.own_graph.graph_agent import GraphAgent
from graphwalk.runs.folder import ASK, NewRun, RunFolder
from graphwalk.runs.record import RUN_VERSION, EpisodeKey, Result
from graphwalk.suites.setting import Setting
from graphwalk.version import __version__


class ConversationFolder:
    """The folder of the questions to one agent, locked until it is closed."""

    def __init__(self, out: Path | None, source: GraphSource, agent: GraphAgent) -> None:
        """Make the folder: `out`, else runs/TIME-ask-ID. Raise RunLogError if it is not empty."""
        self._run = NewRun.make(ASK, out)
        self._begun = ExitStack()
        self._begun.enter_context(self._run.begin())
        self._source, self._agent = source, agent
        self._questions: list[str] = []

    @property
    def folder(self) -> RunFolder:
        return self._run.folder

    def close(self) -> None:
        self._begun.close()

    def begin(self, question: str) -> None:
        """Write run.json with a question before it is asked, so that an interrupted conversation names it."""
        self._questions.append(question)
        source = self._source.model_dump(mode="json", exclude_none=True)
        manifest = {
            "schema_version": RUN_VERSION,
            "graphwalk_version": __version__,
            "run_id": self._run.run_id,
            "name": ASK,
            "created": self._run.created,
            "config": {
                "suite": {"name": ASK, "graphs": [source], "questions": self._questions},
                "models": [self._agent.episode.model.name],
                "names": {},
                **self._agent.config.model_dump(mode="json", exclude={"servers", "model_arguments"}),
            },
            "fingerprint": {"episodes": len(self._questions), "graphs": [source]},
        }
        # Secrets are looked for in the text: any field may have one, and the questions, too.
        self.folder.write_manifest(json.loads(self._agent.variables.secrets.redact_certain(json.dumps(manifest))))

    def add(self, answer: Answer) -> None:
        """Append an answer. Raise RunLogError if it cannot be written."""
        number = len(self._questions)
        result = Result(
            key=EpisodeKey(f"ask-{number:03}", answer.model, Setting(answer.setting), 0),
            exit_status=answer.exit_status,
            answer=answer.answer,
            score=None if answer.exit_status.infrastructure else {"correct": None},
            trajectory=answer.trajectory,
            usage=answer.usage,
            seconds=answer.seconds,
            task={
                "suite": ASK,
                "template": ASK,
                "question": answer.question,
                "number": number,
                "earlier": [exchange._asdict() for exchange in answer.earlier],
            },
            graph={"name": self._source.name},
        )
        with closing(LineWriter(self.folder.results_path)) as writer:
            writer.append(result.as_dict())
