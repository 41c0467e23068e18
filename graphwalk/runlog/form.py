"""What `run.json` and the lines of `results.jsonl` must look like before anybody reads further in them."""

from collections.abc import Mapping
from typing import Any

from graphwalk.types.episode import ExitStatus

_MANIFEST: Mapping[str, tuple[type, ...]] = {
    "graphwalk_version": (str,),
    "run_id": (str,),
    "name": (str,),
    "created": (str,),
    "config": (dict,),
    "fingerprint": (dict, type(None)),
}
_CONFIG: Mapping[str, tuple[type, ...]] = {"suite": (dict,), "models": (list,)}
_SETTLED: Mapping[str, tuple[type, ...]] = {"episodes": (int, type(None)), "graphs": (list,)}
_RESULT: Mapping[str, tuple[type, ...]] = {
    "task_id": (str,),
    "model": (str,),
    "setting": (str,),
    "repeat": (int,),
    "exit_status": (str,),
    "score": (dict, type(None)),
    "usage": (dict,),
    "seconds": (int, float),
    "task": (dict,),
    "world": (dict,),
    "trajectory": (dict,),
}
_STATUS = frozenset(str(status) for status in ExitStatus)


def check_manifest(manifest: Mapping[str, Any]) -> None:
    """ValueError that names the field which is missing or of another kind."""
    _check(manifest, _MANIFEST)
    _check(manifest["config"], _CONFIG, "config.")
    if not isinstance(manifest["config"]["suite"].get("name"), str):
        raise ValueError("config.suite.name is missing or of another kind")
    if manifest["fingerprint"] is not None:
        _check(manifest["fingerprint"], _SETTLED, "fingerprint.")


def check_result(record: Mapping[str, Any]) -> None:
    """The same for a line of results."""
    _check(record, _RESULT)
    if record["exit_status"] not in _STATUS:
        raise ValueError(f"exit_status {record['exit_status']!r} is not known")


def _check(fields: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]], where: str = "") -> None:
    for name, allowed in kinds.items():
        if name not in fields or not isinstance(fields[name], allowed):
            raise ValueError(f"{where}{name} is missing or of another kind")
