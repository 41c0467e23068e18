"""The tasks of an experiment as a data set for the Hugging Face hub: Parquet files and a card."""

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import yaml

from graphwalk.analysis.exports.tables import as_strict_json
from graphwalk.analysis.suite_analysis import analysis_of, with_reference
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.templates import render_page
from graphwalk.errors import ConfigError, counted
from graphwalk.files.bulk import Row, cell
from graphwalk.files.writing import make_folder, new_file, new_folder, write_whole
from graphwalk.graphs.formats.json import json_document
from graphwalk.runs.experiment import AnyExperiment
from graphwalk.runs.plan import PlannedEpisode, graphs_of, make_plan
from graphwalk.runs.resolve import ResolvedExperiment, resolve
from graphwalk.suites.loaded_graph import GraphInstance
from graphwalk.tools.schema_text import schema_text
from graphwalk.variables import Variables
from graphwalk.version import SCHEMA_VERSION, __version__

TEST, TRAIN = "test", "train"
GRAPHS = "graphs"
PROMPT = "prompt"
FIXED_FIELDS: Mapping[str, Any] = {
    "models": ["openai/any"],
    "model_arguments": {},
    "servers": {},
    "prices": {},
    "extractor": None,
    "repeats": 1,
}
"""Fields of the experiment that the data set does not depend on.

The model is never called. It is no scripted agent, which some settings refuse.
"""
_TEXTS = ("id", "suite", "template", "setting", "question", "tools", "schema", "target", "graph", "task", "canary")
_GRAPH_TEXTS = ("digest", "facts", "nodes", "relationships")


class DatasetTable(NamedTuple):
    """A Parquet file, a split of a configuration. `sha256`: of its rows as JSON lines, whatever polars wrote them."""

    config: str
    split: str
    path: str
    rows: int
    sha256: str


async def export_dataset(
    experiments: Mapping[str, AnyExperiment], out: Path, variables: Variables, licence: str | None = None
) -> list[DatasetTable]:
    """Write the tasks of each split's experiment, and their graphs, into a new folder; return its tables.

    Raise ConfigError if the folder is not empty, two splits share a graph, or an own graph has no `licence`; StoreError
    if the store cannot be reached.
    """
    if licence is None and _has_own_graph(experiments.values()):
        raise ConfigError(
            "the tasks are about your own graph, and the data set needs its licence", hint="--licence cc-by-4.0"
        )
    folder = new_folder(out)
    test = experiments[TEST]
    canary = _canary(test)

    splits: dict[str, dict[str, list[Row]]] = {}
    for split, experiment in experiments.items():
        resolved = resolve(experiment, variables, keys=False)
        # The canary marks rows that no model may be trained on.
        splits[split] = await _rows_by_config(resolved, canary if split == TEST else None)
    _check_no_graph_is_shared(splits)

    tables = []
    for split, rows_by_config in splits.items():
        for config, rows in rows_by_config.items():
            tables.append(_write_table(folder, config, split, rows))
    for split, experiment in experiments.items():
        document = yaml.safe_dump(experiment.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        write_whole(folder / f"{split}.yaml", [variables.secrets.redact(document)])
    card = render_page(
        "dataset/README.md.j2",
        tables=tables,
        test=test,
        splits=list(splits),
        configs=list(dict.fromkeys(table.config for table in tables)),  # each once: both splits have them
        canary=canary,
        licence=licence or "mit",
        version=__version__,
        schema_version=SCHEMA_VERSION,
    )
    write_whole(folder / "README.md", [card, "\n"])
    return tables


def _has_own_graph(experiments: Iterable[AnyExperiment]) -> bool:
    """Return True if an experiment has a graph of a file or a database, which is not ours to license."""
    for experiment in experiments:
        entries = getattr(experiment.suite, "graphs", ())
        if any(isinstance(entry, GraphSource) for entry in entries):
            return True
    return False


def _canary(experiment: AnyExperiment) -> str:
    """Return a GUID, the same one for the same experiment, so that the data set can be made again to the byte."""
    digest = hashlib.sha256(experiment.model_dump_json().encode()).digest()
    return str(UUID(bytes=digest[:16], version=4))


def _check_no_graph_is_shared(splits: Mapping[str, Mapping[str, Sequence[Row]]]) -> None:
    """Raise ConfigError if the same graph is in the test split and in the train split."""
    if TRAIN not in splits:
        return
    in_test = {row["digest"] for row in splits[TEST][GRAPHS]}
    in_train = {row["digest"] for row in splits[TRAIN][GRAPHS]}
    shared = in_test & in_train
    if shared:
        raise ConfigError(
            f"test and train share {counted(len(shared), 'graph')}: {min(shared)[:12]}",
            hint="give the two experiments different seeds, or names: train and names: held_out in their graphs",
        )


def _write_table(folder: Path, config: str, split: str, rows: Sequence[Row]) -> DatasetTable:
    strict_rows = [as_strict_json(row) for row in rows]
    path = f"{config}/{split}.parquet"
    make_folder(folder / config)
    texts = _GRAPH_TEXTS if config == GRAPHS else _TEXTS
    _write_parquet(strict_rows, folder / path, texts)

    # polars may write the same rows as other bytes in another version, JSON lines stay the same.
    digest = hashlib.sha256()
    for row in strict_rows:
        line = json.dumps(row, ensure_ascii=False) + "\n"
        digest.update(line.encode())
    return DatasetTable(config, split, path, len(rows), digest.hexdigest())


def _write_parquet(rows: Sequence[Row], out: Path, texts: Sequence[str]) -> None:
    """Write a table of texts, and of the messages of a prompt. Lists and maps in other columns are JSON."""
    import polars

    schema: dict[str, Any] = dict.fromkeys(texts, polars.String)
    if PROMPT in rows[0]:
        schema[PROMPT] = polars.List(polars.Struct({"role": polars.String, "content": polars.String}))
    cells = []
    for row in rows:
        texts_of_row = {name: cell(row.get(name)) for name in texts}
        cells.append({**row, **texts_of_row})
    with new_file(out) as file:
        polars.DataFrame(cells, schema).write_parquet(file)


async def _rows_by_config(experiment: ResolvedExperiment, canary: str | None) -> dict[str, list[Row]]:
    """Return the rows of a split by configuration: the tasks of each setting, and the graphs."""
    async with graphs_of(experiment, f"dataset-{secrets.token_hex(4)}") as opened:
        plan = await make_plan(experiment, opened, lambda number: None)
        rows: dict[str, list[Row]] = {}
        for planned in plan.episodes:
            config = str(planned.key.setting).replace(":", "-")  # it names a folder
            row = await _task_row(planned, experiment)
            row["canary"] = canary
            rows.setdefault(config, []).append(row)

        graphs: dict[str, Row] = {}
        for graph in plan.graphs:
            instance = graph.about.instance
            graphs[instance.digest] = _graph_row(instance)  # once, however many entries of the suite give it
        rows[GRAPHS] = list(graphs.values())
        return rows


async def _task_row(planned: PlannedEpisode, experiment: ResolvedExperiment) -> dict[str, Any]:
    loaded = planned.graph.about
    task = await with_reference(analysis_of(experiment.suite), planned.task, loaded, experiment.config.agent)
    prompt = await planned.prompt(experiment)
    agent = experiment.of(planned.key.setting).config.agent

    schema = None
    if loaded.store is not None:
        schema = schema_text(await loaded.store.schema(agent.schema_samples), agent)
    tools: list[dict[str, Any]] = []
    if prompt.toolbox is not None:
        tools = [spec.as_openai() for spec in prompt.toolbox.specs]
    record = task.model_dump(mode="json")
    return {
        "id": task.task_id,
        "suite": task.suite,
        "template": task.template,
        "setting": str(planned.key.setting),
        "question": task.question,
        PROMPT: [message.as_openai() for message in prompt.messages],
        "tools": json.dumps(tools),
        "schema": schema,
        "target": json.dumps(record["gold"], ensure_ascii=False),
        "graph": task.graph_digest,
        "task": record,
    }


def _graph_row(instance: GraphInstance) -> Row:
    """Return a graph in the form of `graphwalk generate graph --out FILE.jsonl`.

    A suite whose graphs are in its prompts has no property graph: nodes and relationships are None.
    """
    row: dict[str, Any] = {
        "digest": instance.digest,
        "facts": dict(instance.facts),
        "nodes": None,
        "relationships": None,
    }
    if instance.graph is not None:
        document = json_document(instance.graph)
        row["nodes"] = document["nodes"]
        row["relationships"] = document["relationships"]
    return row
