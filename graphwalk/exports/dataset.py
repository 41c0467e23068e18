"""The tasks of an experiment as a data set for the Hugging Face hub: Parquet files, a card, and `eval.yaml`."""

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from graphwalk.config.experiment import AnyExperiment
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.jinja import render_page
from graphwalk.errors import ConfigError, counted
from graphwalk.exports.episodes import new_folder, whole
from graphwalk.files.bulk import Columns, Row, parquet_table
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.graphs.formats.json import json_document
from graphwalk.runs.playing.graph_sources import sources_for
from graphwalk.runs.playing.plan import LoadedGraph, PlannedEpisode, make_plan
from graphwalk.runs.playing.resolve import Experiment, resolve
from graphwalk.settings import Settings
from graphwalk.tools.schema_text import schema_text
from graphwalk.types.episode import SCHEMA_VERSION
from graphwalk.version import __version__

TEST, TRAIN = "test", "train"
GRAPHS = "graphs"
FLAGS: Mapping[str, Any] = {
    **{"models": ["openai/any"], "model_arguments": {}, "servers": {}, "prices": {}, "extractor": None, "repeats": 1}
}
"""Fields of the experiment that the data set does not depend on: any language model can play all settings."""
TASK_COLUMNS: Columns = {
    **{"id": str, "suite": str, "template": str, "setting": str, "question": str, "prompt": list, "tools": str},
    **{"schema": str, "target": str, "graph": str, "task": str, "canary": str},
}
GRAPH_COLUMNS: Columns = {"digest": str, "facts": str, "nodes": str, "relationships": str}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass
class Table:
    """A Parquet file of the data set: a split of a configuration."""

    config: str
    split: str
    rows: int = 0
    sha256: str = ""
    """Digest of the rows as JSON lines, which does not depend on the release of pyarrow."""

    @property
    def path(self) -> str:
        return f"{self.config}/{self.split}.parquet"

    def write(self, folder: Path, rows: Iterable[Row], columns: Columns) -> None:
        make_folder(folder / self.config)
        digest = hashlib.sha256()
        with ExitStack() as stack:
            add = parquet_table(stack, folder / self.path, columns)
            for row in map(whole, rows):
                digest.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
                self.rows += 1
                add([row])
        self.sha256 = digest.hexdigest()


@dataclass(frozen=True)
class Split:
    """The rows of a split: those of tasks by configuration, those of graphs by digest."""

    tasks: Mapping[str, list[Row]]
    graphs: Mapping[str, Row]


async def export_dataset(
    experiments: Mapping[str, AnyExperiment], out: Path, settings: Settings, licence: str | None = None
) -> list[Table]:
    """Write the tasks of each split's experiment, and their graphs, into a new folder; return its tables.

    Raise ConfigError if the folder is not empty, two splits share a graph, an own graph has no `licence`, or pyarrow is
    missing; StoreError if the store cannot be reached.
    """
    if licence is None and any(map(_has_own_graph, experiments.values())):
        raise ConfigError(
            "the tasks are about your own graph, and the data set needs its licence", hint="--licence cc-by-4.0"
        )
    folder, test = new_folder(out), experiments[TEST]
    canary = str(UUID(bytes=hashlib.sha256(test.model_dump_json().encode()).digest()[:16], version=4))
    splits = {
        split: await _split(resolve(config, settings, keys=False), canary if split == TEST else None)
        for split, config in experiments.items()
    }
    _check_disjoint(splits)
    tables = list[Table]()
    for split, content in splits.items():
        for name, rows in content.tasks.items():
            tables.append(Table(name, split))
            tables[-1].write(folder, rows, TASK_COLUMNS)
        tables.append(Table(GRAPHS, split))
        tables[-1].write(folder, content.graphs.values(), GRAPH_COLUMNS)
    for split, config in experiments.items():
        document = _without_folders(config.model_dump(mode="json"))
        write_whole(folder / f"{split}.yaml", [yaml.safe_dump(document, sort_keys=False, allow_unicode=True)])
    facts = {"tables": tables, "test": test, "splits": list(splits), "canary": canary, "licence": licence or "mit"}
    facts |= {"configs": list(dict.fromkeys(table.config for table in tables)), "size": _size(tables)}
    facts |= {"version": __version__, "schema_version": SCHEMA_VERSION}
    for name in ("eval.yaml", "README.md"):
        write_whole(folder / name, [render_page(f"dataset/{name}.j2", **facts), "\n"])
    return tables


def _has_own_graph(config: AnyExperiment) -> bool:
    return any(isinstance(entry, GraphSource) for entry in getattr(config.suite, "graphs", ()))


def _without_folders(value: Any) -> Any:
    """Return an experiment with the names of files in place of their absolute paths, which belong to this machine."""
    if isinstance(value, dict):
        return {name: _without_folders(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_folders(item) for item in value]
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value


async def _split(experiment: Experiment, canary: str | None) -> Split:
    sources = sources_for(experiment, f"dataset-{secrets.token_hex(4)}")
    try:
        plan = await make_plan(experiment, sources, lambda number: None)
        tasks: dict[str, list[Row]] = {}
        for planned in plan.episodes:
            row = await _task_row(planned, experiment)
            tasks.setdefault(planned.key.setting.replace(":", "-"), []).append({**row, "canary": canary})
        return Split(tasks, {loaded.instance.digest: _graph_row(loaded) for loaded in plan.graphs})
    finally:
        await sources.drop_graphs()
        await sources.close()


async def _task_row(planned: PlannedEpisode, experiment: Experiment) -> dict[str, Any]:
    task, store = planned.task, planned.graph.store
    setup, agent = await planned.setup(experiment), experiment.of(planned.key.setting).agent
    schema = None if store is None else schema_text(await store.schema(agent.schema_samples), agent)
    tools = [] if setup.toolbox is None else [spec.as_openai() for spec in setup.toolbox.specs]
    record = task.model_dump(mode="json")
    return {
        **{"id": task.task_id, "suite": task.suite, "template": task.template, "setting": planned.key.setting},
        **{"question": task.question, "prompt": [message.as_openai() for message in setup.prompt]},
        **{"tools": json.dumps(tools), "schema": schema, "target": json.dumps(record["gold"], ensure_ascii=False)},
        **{"graph": task.graph_digest, "task": record},
    }


def _graph_row(loaded: LoadedGraph) -> Row:
    """Return a graph in the form of `graphwalk generate graph --out FILE.parquet`; None in the columns of no graph."""
    graph = loaded.instance.graph
    document = {} if graph is None else json_document(graph)
    columns = {name: document.get(name) for name in ("nodes", "relationships")}
    return {"digest": loaded.instance.digest, "facts": dict(loaded.instance.facts), **columns}


def _check_disjoint(splits: Mapping[str, Split]) -> None:
    shared = splits[TEST].graphs.keys() & splits[TRAIN].graphs.keys() if TRAIN in splits else set[str]()
    if shared:
        raise ConfigError(
            f"test and train share {counted(len(shared), 'graph')}: {min(shared)[:12]}",
            hint="give the two experiments different seeds, or names: train and names: held_out in their graphs",
        )


def _size(tables: Iterable[Table]) -> str:
    """Return the hub's category for the number of tasks."""
    number = sum(table.rows for table in tables if table.config != GRAPHS)
    return next((name for limit, name in _SIZES if number < limit), "n>1M" if number >= 10_000_000 else "1M<n<10M")
