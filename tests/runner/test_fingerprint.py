"""What a run keeps of its texts and code, and what a resume refuses."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from graphwalk.environment import Environment
from graphwalk.errors import RunLogError
from graphwalk.experiments.loading import load_experiment
from graphwalk.resources import PACKAGE
from graphwalk.runlog.run_folder import NewRun, RunFolder
from graphwalk.runner import fingerprint
from graphwalk.runner.fingerprint import code_digests, scorer_digests
from graphwalk.runner.progress import Silent
from graphwalk.runner.rescore import rescore_run
from graphwalk.runner.resolve import resolve
from graphwalk.runner.run import resume_run, start_run
from graphwalk.runner.tally import RunSummary
from graphwalk.suites.registry import suite_named
from tests.models.server import ModelServer


async def start(folder: Path, **flags: Any) -> RunFolder:
    config = load_experiment("quickstart", flags={"suite.graphs.*.count": 1, "limit": 1, **flags})
    new = NewRun.make(config.name, folder)
    await start_run(resolve(config, Environment()), new, Silent())
    return new.folder


async def resume(folder: RunFolder) -> RunSummary:
    return await resume_run(folder, Environment(), Silent())


async def test_a_run_keeps_its_texts(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "answer_now.j2").write_text("Now!")
    folder = await start(tmp_path / "run", **{"agent.prompts": str(prompts)})
    assert folder.kept_text("prompts/answer_now.j2") == "Now!"
    assert "You answer questions" in (folder.kept_text("prompts/graph_tools.j2") or "")
    assert "note_taking: true" in (folder.kept_text("tools/think.yaml") or "")
    assert "name: node_count" in (folder.kept_text("questions/node_count.yaml") or "")
    again = load_experiment(str(folder.texts_path / "experiment.yaml"))
    assert again.agent.prompts == str(prompts)
    assert (await resume(folder)).finished == 3


async def test_a_changed_text_is_refused_with_the_difference(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "answer_now.j2").write_text("Answer now.")
    folder = await start(tmp_path / "run", **{"agent.prompts": str(prompts)})
    before = _files(folder.path)
    (prompts / "answer_now.j2").write_text("Answer at once.")
    with pytest.raises(RunLogError) as caught:
        await resume(folder)
    message = str(caught.value)
    assert "texts: prompts/answer_now.j2: changed" in message
    assert "    -Answer now." in message
    assert "    +Answer at once." in message
    assert _files(folder.path) == before


def _files(folder: Path) -> dict[Path, bytes]:
    """All but run.log, which notes every try."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "run.log"}


async def test_changed_code_is_refused_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = await start(tmp_path / "run")
    now = code_digests()
    assert {
        "agent.py",
        "toolbox/graph_toolbox.py",
        "stores/cypher.py",
        "models/text_calls.py",
    } < now.keys()
    monkeypatch.setattr(fingerprint, "code_digests", lambda: {**now, "agent.py": "other", "seeds_new.py": "n"})
    with pytest.raises(RunLogError) as caught:
        await resume(folder)
    assert "code: agent.py: changed" in str(caught.value)
    assert "code: seeds_new.py: new" in str(caught.value)


async def test_only_the_scorer_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = await start(tmp_path / "run")
    manifest = folder.read_manifest()
    manifest["fingerprint"]["scorer"]["scoring/rows.py"] = "other"
    folder.write_manifest(manifest)
    with pytest.raises(RunLogError, match=r"scorer: scoring/rows\.py: changed") as caught:
        await resume(folder)
    assert caught.value.hint.startswith("only the scorer has changed: graphwalk rescore")
    rescore_run(folder)
    assert (await resume(folder)).finished == 3


@pytest.mark.parametrize(
    ("suite", "file"),
    [
        ("magma", "suites/magma/judgement.py"),
        ("magma", "suites/magma/generator/algorithms.py"),
        ("mazes", "suites/mazes/walk.py"),
        ("questions", "suites/questions/scoring.py"),
        ("questions", "scoring/evidence.py"),
    ],
)
def test_all_that_scores_is_digested(suite: str, file: str) -> None:
    digests = scorer_digests(suite_named(suite))
    assert file in digests
    assert not [name for name in digests if "/report" in name or "/pictures" in name]
    assert not [name for name in digests if name.startswith("suites/") and f"/{suite}/" not in name]


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of another package, with a scorer in a file of its own; and one that is a single file."""
    package = tmp_path / "others" / "stars"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "judging.py").write_text("LIMIT = 1\n")
    suite = (
        "from graphwalk.suites.magma.suite import MagmaSuite\n\n\nclass StarSuite(MagmaSuite):\n    name = 'stars'\n"
    )
    (package / "suite.py").write_text(suite)
    (tmp_path / "others" / "lone_star.py").write_text(suite)
    monkeypatch.syspath_prepend(str(tmp_path / "others"))
    yield package
    for name in ("stars", "stars.suite", "lone_star"):
        sys.modules.pop(name, None)


def test_the_package_of_another_suite_is_digested(other_package: Path) -> None:
    suite = importlib.import_module("stars.suite").StarSuite()
    before = scorer_digests(suite)
    assert {"stars/suite.py", "stars/judging.py", "suites/magma/judgement.py"} < before.keys()
    (other_package / "judging.py").write_text("LIMIT = 2\n")
    after = scorer_digests(suite)
    assert [name for name in before if before[name] != after[name]] == ["stars/judging.py"]


def test_of_a_suite_that_is_one_file_that_file_is_digested(other_package: Path) -> None:
    suite = importlib.import_module("lone_star").StarSuite()
    assert {"lone_star.py"} == {name for name in scorer_digests(suite) if "star" in name}


@pytest.mark.parametrize(
    "file",
    [
        "toolbox/encodings.py",
        "toolbox/operations.py",
        "agent.py",
        "models/text_calls.py",
        "models/openai.py",
        "models/wrappers.py",
        "runner/episode.py",
        "types/values.py",
        "seeds.py",
    ],
)
def test_all_that_shapes_an_episode_is_digested(file: str) -> None:
    assert file in code_digests()


def test_nothing_but_named_parts_of_the_package_is_left_out() -> None:
    left_out = {path.name for path in PACKAGE.iterdir()} - {name.partition("/")[0] for name in code_digests()}
    python = {name for name in left_out if name.endswith(".py") or any((PACKAGE / name).glob("*.py"))}
    assert python == {"__main__.py", "api", "cli", "console.py", "database", "mcp_server", "report"} | {
        *("runlog", "scoring", "testing"),
    }


async def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = await start(tmp_path / "run")
    monkeypatch.setattr(fingerprint, "__version__", "9.9")
    with pytest.raises(RunLogError, match=r"version: .* → 9\.9"):
        await resume(folder)


@pytest.mark.parametrize(
    ("limit", "value"),
    [("episode_tokens", 7), ("episode_seconds", 7.0), ("episode_usd", 7.0), ("store_seconds", 7.0)],
)
async def test_limits_that_shape_an_episode_may_not_change(tmp_path: Path, limit: str, value: float) -> None:
    folder = await start(tmp_path / "run")
    with pytest.raises(RunLogError, match=rf"limits\.{limit}: .* → {value}"):
        await resume_run(folder, Environment(), Silent(), {limit: value})


async def test_another_server_behind_the_same_name_is_refused(tmp_path: Path) -> None:
    async with ModelServer() as server, ModelServer() as other:
        config = load_experiment(
            "quickstart", flags={"suite.graphs.*.count": 1, "limit": 1, "models": ["openai-api/local/m"]}
        )
        new = NewRun.make(config.name, tmp_path / "run")
        key = "sk-in-the-path-0123456789"
        environment = Environment({"LOCAL_BASE_URL": f"{server.url}/{key}"})
        await start_run(resolve(config, environment), new, Silent())
        assert key not in new.folder.manifest_path.read_text()
        for address in (other.url, f"{server.url}/elsewhere"):
            with pytest.raises(RunLogError, match=r"servers\.openai-api/local/m: http://127\.0\.0\.1") as caught:
                await resume_run(new.folder, Environment({"LOCAL_BASE_URL": address}), Silent())
            assert key not in str(caught.value)
        assert other.requests == []
        with_user = environment.variables["LOCAL_BASE_URL"].replace("://", "://me:pass@")
        await resume_run(new.folder, Environment({"LOCAL_BASE_URL": with_user}), Silent())
