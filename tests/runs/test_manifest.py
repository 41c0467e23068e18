"""The texts that a run keeps, and the changes with which it cannot be resumed."""

import re
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.rescore import rescore_run
from graphwalk.errors import RunLogError
from graphwalk.runs import manifest as run_manifest
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import RunFolder
from graphwalk.variables import Variables
from tests.models.server import ModelServer
from tests.runs.runs import experiment, resume, start


async def begin(folder: Path, **flags: Any) -> RunFolder:
    await start(folder, experiment(limit=1, **flags))
    return RunFolder.open(folder)


async def test_a_run_keeps_its_texts_and_a_changed_one_is_refused_with_its_name(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "answer_now.j2").write_text("Now!")
    folder = await begin(tmp_path / "run", **{"agent.prompts": str(prompts)})
    assert folder.read_text("prompts/answer_now.j2") == "Now!"
    assert "You answer questions" in (folder.read_text("prompts/graph_tools.j2") or "")
    assert "operation: note" in (folder.read_text("tools/think.yaml") or "")
    assert "name: node_count" in (folder.read_text("questions/node_count.yaml") or "")
    again = load_experiment(str(folder.texts_path / "experiment.yaml"))
    assert again.agent.prompts == str(prompts)
    assert (await resume(folder.path)).finished == 3
    (prompts / "answer_now.j2").write_text("Answer at once.")
    with pytest.raises(RunLogError, match=r"texts\.prompts/answer_now\.j2: "):
        await resume(folder.path)


async def test_only_the_scorer_changed(tmp_path: Path) -> None:
    folder = await begin(tmp_path / "run")
    manifest = folder.read_manifest()
    manifest["fingerprint"]["scorer"] = "0.0"
    folder.write_manifest(manifest)
    with pytest.raises(RunLogError, match=r"scorer: 0\.0 → ") as caught:
        await resume(folder.path)
    assert caught.value.hint.startswith("only the scorer has changed: graphwalk rescore")
    rescore_run(folder)
    assert (await resume(folder.path)).finished == 3


async def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = await begin(tmp_path / "run")
    monkeypatch.setattr(run_manifest, "__version__", "9.9")
    with pytest.raises(RunLogError, match=r"version: .* → 9\.9"):
        await resume(folder.path)


async def test_limits_that_shape_an_episode_may_not_change(tmp_path: Path) -> None:
    folder = await begin(tmp_path / "run")
    limits = {"episode_tokens": 7, "episode_seconds": 7.0, "episode_usd": 7.0, "store_seconds": 7.0}
    with pytest.raises(RunLogError) as caught:
        await resume(folder.path, **limits)
    assert re.findall(r"limits\.(\w+): .* → 7", str(caught.value)) == sorted(limits)


async def test_another_server_behind_the_same_name_is_refused(tmp_path: Path) -> None:
    async with ModelServer() as server, ModelServer() as other:
        config = experiment(limit=1, models=["openai-api/local/m"])
        key = "sk-in-the-path-0123456789"
        variables = Variables({"LOCAL_BASE_URL": f"{server.url}/{key}"})
        await start(tmp_path / "run", config, variables)
        assert key not in (tmp_path / "run" / "run.json").read_text()
        for address in (other.url, f"{server.url}/elsewhere"):
            with pytest.raises(RunLogError, match=r"servers\.openai-api/local/m: http://127\.0\.0\.1") as caught:
                await resume(tmp_path / "run", Variables({"LOCAL_BASE_URL": address}))
            assert key not in str(caught.value)
        assert other.requests == []
        with_user = variables.values["LOCAL_BASE_URL"].replace("://", "://me:pass@")
        await resume(tmp_path / "run", Variables({"LOCAL_BASE_URL": with_user}))
