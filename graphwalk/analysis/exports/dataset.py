"""The tasks of an experiment as a data set for the Hugging Face hub: Parquet files and a card."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
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
FLAGS: Mapping[str, Any] = {
    "models": ["openai/any"],
    "model_arguments": {},
    "servers": {},
    "prices": {},
    "extractor": None,
    "repeats": 1,
}
"""Fields of the experiment that the data set does not depend on: any language model can play all settings."""
_TEXTS = ("id", "suite", "template", "setting", "question", "tools", "schema", "target", "graph", "task", "canary")
_GRAPH_TEXTS = ("digest", "facts", "nodes", "relationships")


class Table(NamedTuple):
    """A Parquet file, a split of a configuration. `sha256`: of its rows as JSON lines, whatever polars wrote them."""

    config: str
    split: str
    path: str
    rows: int
    sha256: str


async def export_dataset(
    experiments: Mapping[str, AnyExperiment], out: Path, variables: Variables, licence: str | None = None
) -> list[Table]:
    """Write the tasks of each split's experiment, and their graphs, into a new folder; return its tables.

    Raise ConfigError if the folder is not empty, two splits share a graph, or an own graph has no `licence`; StoreError
    if the store cannot be reached.
    """
    graphs = [entry for config in experiments.values() for entry in getattr(config.suite, "graphs", ())]
    if licence is None and any(isinstance(entry, GraphSource) for entry in graphs):
        raise ConfigError(
            "the tasks are about your own graph, and the data set needs its licence", hint="--licence cc-by-4.0"
        )
    folder, test = new_folder(out), experiments[TEST]
    canary = str(UUID(bytes=hashlib.sha256(test.model_dump_json().encode()).digest()[:16], version=4))
    splits = {
        split: await _rows(resolve(config, variables, keys=False), canary if split == TEST else None)
        for split, config in experiments.items()
    }
    digests = [{row["digest"] for row in configs[GRAPHS]} for configs in splits.values()]
    if len(digests) > 1 and (shared := set.intersection(*digests)):
        raise ConfigError(
            f"test and train share {counted(len(shared), 'graph')}: {min(shared)[:12]}",
            hint="give the two experiments different seeds, or names: train and names: held_out in their graphs",
        )
    tables = [
        _write(folder, config, split, rows) for split, configs in splits.items() for config, rows in configs.items()
    ]
    for split, experiment in experiments.items():
        document = yaml.safe_dump(experiment.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        write_whole(folder / f"{split}.yaml", [variables.secrets.redact(document)])
    card = render_page(
        "dataset/README.md.j2",
        tables=tables,
        test=test,
        splits=list(splits),
        configs=list(dict.fromkeys(table.config for table in tables)),
        canary=canary,
        licence=licence or "mit",
        version=__version__,
        schema_version=SCHEMA_VERSION,
    )
    write_whole(folder / "README.md", [card, "\n"])
    return tables


def _write(folder: Path, config: str, split: str, rows: Sequence[Row]) -> Table:
    rows = [as_strict_json(row) for row in rows]
    path = f"{config}/{split}.parquet"
    make_folder(folder / config)
    _write_parquet(rows, folder / path, _GRAPH_TEXTS if config == GRAPHS else _TEXTS)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return Table(config, split, path, len(rows), hashlib.sha256(lines.encode()).hexdigest())


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


async def _rows(experiment: ResolvedExperiment, canary: str | None) -> dict[str, list[Row]]:
    """Return the rows of a split by configuration: the tasks of each setting, and the graphs."""
    async with graphs_of(experiment, f"dataset-{secrets.token_hex(4)}") as opened:
        plan = await make_plan(experiment, opened, lambda number: None)
        rows: dict[str, list[Row]] = {}
        for planned in plan.episodes:
            row = await _task_row(planned, experiment)
            rows.setdefault(str(planned.key.setting).replace(":", "-"), []).append({**row, "canary": canary})
        graphs = {graph.about.instance.digest: _graph_row(graph.about.instance) for graph in plan.graphs}
        return {**rows, GRAPHS: list(graphs.values())}


async def _task_row(planned: PlannedEpisode, experiment: ResolvedExperiment) -> dict[str, Any]:
    store, analysis = planned.graph.about.store, analysis_of(experiment.suite)
    task = await with_reference(analysis, planned.task, planned.graph.about, experiment.agent)
    prompt, agent = await planned.prompt(experiment), experiment.of(planned.key.setting).agent
    schema = None if store is None else schema_text(await store.schema(agent.schema_samples), agent)
    tools = [] if prompt.toolbox is None else [spec.as_openai() for spec in prompt.toolbox.specs]
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
    """Return a graph in the form of `graphwalk generate graph --out FILE.jsonl`; None in the columns of no graph."""
    graph = instance.graph
    document = {} if graph is None else json_document(graph)
    columns = {name: document.get(name) for name in ("nodes", "relationships")}
    return {"digest": instance.digest, "facts": dict(instance.facts), **columns}
