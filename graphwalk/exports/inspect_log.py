"""Logs of inspect_ai (`.eval`, schema 2): one for each model and setting, a ZIP with a JSON file for each sample."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from graphwalk.errors import ConfigError
from graphwalk.exports.episodes import Episodes, file_name, new_folder
from graphwalk.exports.inspect_sample import sample_of, summary_of
from graphwalk.files import new_file
from graphwalk.runlog.listing import listed
from graphwalk.runlog.result import EpisodeKey, Result

_SCHEMA = 2
_MEASURES = ("correct", "f1", "precision", "recall")


def export_inspect(episodes: Episodes, out: Path) -> None:
    """Logs of inspect_ai: a file for each model and setting.

    --out is a new folder, or a file NAME.eval where one model in one setting is exported.
    """
    players = list(dict.fromkeys((key.model, key.setting) for key in episodes.keys))
    single = out.suffix == ".eval"
    if single and len(players) > 1:
        raise ConfigError(
            f"a log holds one model in one setting, and there are {len(players)}",
            hint=f"--out {out.with_suffix('')}   for a folder with a file for each, or choose with --model, --setting",
        )
    folder = out.parent if single else new_folder(out)
    with ExitStack() as stack:
        logs = {}
        for player in players:
            path = out if single else folder / file_name(episodes.manifest["name"], *player, ending=".eval")
            logs[player] = _Log(stack.enter_context(new_file(path)), episodes, *player)
        for result in episodes:
            logs[result.key.model, result.key.setting].add(result)
        for log in logs.values():
            log.finish()


class _Log:
    """One `.eval` file while it is written."""

    def __init__(self, file: BinaryIO, episodes: Episodes, model: str, setting: str) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED)
        self._episodes, self._model, self._setting = episodes, model, setting
        self._summaries: list[dict[str, Any]] = []
        self._scores: dict[str, list[float]] = {name: [] for name in _MEASURES}
        self._usage: dict[str, float] = {}

    def add(self, result: Result) -> None:
        sample = sample_of(result)
        self._write(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
        self._summaries.append(summary_of(sample))
        for name in _MEASURES:
            if result.score is not None and result.score.get(name) is not None:
                self._scores[name].append(float(result.score[name]))
        for name, value in sample["model_usage"].get(self._model, {}).items():
            self._usage[name] = self._usage.get(name, 0) + value

    def finish(self) -> None:
        """What stands at the end of the file: the list of samples, and what is true of all."""
        self._write("summaries.json", self._summaries)
        number, manifest = len(self._summaries), self._episodes.manifest
        header = {
            "version": _SCHEMA,
            "status": "success" if listed(self._episodes.folder).state == "finished" else "cancelled",
            "eval": self._spec(),
            "plan": {"name": "plan", "steps": [{"solver": self._setting, "params": {}}], "config": {}},
            "results": {"total_samples": number, "completed_samples": number, "scores": self._results()},
            "stats": {
                "started_at": manifest["created"],
                "completed_at": "",
                "model_usage": {self._model: self._usage} if self._usage else {},
            },
        }
        self._write("header.json", header)
        self._zip.close()

    def _spec(self) -> dict[str, Any]:
        manifest = self._episodes.manifest
        keys = [key for key in self._episodes.keys if (key.model, key.setting) == (self._model, self._setting)]
        config = manifest["config"]
        return {
            "eval_id": "-".join([manifest["run_id"], file_name(self._model, self._setting, ending="")]),
            "run_id": manifest["run_id"],
            "created": manifest["created"],
            "task": manifest["name"],
            "task_id": f"{manifest['name']}-{self._setting}",
            "task_version": 0,
            "tags": list(config.get("tags", ())) or None,
            "dataset": _dataset(config["suite"]["name"], keys),
            "model": self._model,
            "model_generate_config": {},
            "config": {"epochs": max(key.repeat for key in keys) + 1},
            "packages": {"graphwalk-agents": manifest["graphwalk_version"]},
            "revision": {"type": "git", "origin": "", "commit": manifest["commit"]} if manifest.get("commit") else None,
            "metadata": {"setting": self._setting, "suite": config["suite"]["name"], "seed": config.get("seed")},
            "scorers": [{"name": name} for name in _MEASURES if self._scores[name]],
        }

    def _results(self) -> list[dict[str, Any]]:
        number = len(self._summaries)
        return [
            {
                "name": name,
                "scorer": name,
                "scored_samples": len(values),
                "unscored_samples": number - len(values),
                "metrics": {_metric(name): {"name": _metric(name), "value": sum(values) / len(values)}},
            }
            for name, values in self._scores.items()
            if values
        ]

    def _write(self, name: str, value: Any) -> None:
        # The same run gives the same bytes: no time of today is in the file.
        entry = ZipInfo(name)
        entry.compress_type = ZIP_DEFLATED
        self._zip.writestr(entry, json.dumps(value))


def _metric(name: str) -> str:
    return "accuracy" if name == "correct" else "mean"


def _dataset(name: str, keys: list[EpisodeKey]) -> dict[str, Any]:
    ids = list(dict.fromkeys(key.task_id for key in keys))
    return {"name": name, "samples": len(ids), "sample_ids": ids, "shuffled": False}
