"""The packages for verifiers and OpenEnv, traces in TRL, and data sets in `datasets`, by those projects' own programs; their pins differ from ours, so that each is
looked for in an environment of its own: `make environments` sets them up.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from graphwalk.training.traces import TraceOptions, export_traces
from tests.training.recorded_runs import MAZES, QUESTIONS, recorded

ROOT = Path(__file__).parents[2]
EXPERIMENTS = {
    "questions": {"graphs": [{"nodes": 20}], "questions": ["node_count", "node_by_property"]},
    "mazes": {"mazes": [{"size": 5, "min_path": 4}]},
    "magma": {"traces": [{"nodes": 5, "count": 1}]},
}
SETTINGS = {"magma": ["io", "is"]}


def python_of(name: str) -> Path:
    """The Python with that project's packages; skips where there is none."""
    path = Path(os.environ.get(f"GRAPHWALK_{name.upper()}_VENV", ROOT / f".venv-{name}")) / "bin" / "python"
    if not path.exists():
        pytest.skip(f"no {path.parent.parent}: make environments")
    return path


def test_make_installs_what_graphwalk_depends_on_beside_those_projects() -> None:
    """Except for what both bring along."""
    (walking,) = re.findall(r"^WALKING := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    depends = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    names = {re.match(r"[\w-]+", wanted)[0] for wanted in depends}  # type: ignore[index]
    installed = {re.match(r"[\w-]+", wanted.strip('"'))[0] for wanted in walking.split()}  # type: ignore[index]
    assert names - installed == {"openai", "pydantic"}


def environment(package: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'environments' / package}", "HOME": "/nonexistent"}


@pytest.mark.slow
@pytest.mark.parametrize("suite", EXPERIMENTS)
def test_vf_validate_passes(tmp_path: Path, suite: str) -> None:
    python = python_of("verifiers")
    experiment = tmp_path / "experiment.yaml"
    fields = {"name": suite, "suite": {"name": suite, **EXPERIMENTS[suite]}, "settings": SETTINGS.get(suite, ["tools"])}
    experiment.write_text(json.dumps(fields))
    words = [python.with_name("vf-validate"), "graphwalk_verifiers", "--taskset.experiment", experiment]
    done = subprocess.run(
        [*words, "--runtime.type", "subprocess", "--no-rich", "-o", tmp_path / "out"],
        env={**environment("verifiers"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    (summary,) = (tmp_path / "out").rglob("summary.json")
    outcome = json.loads(summary.read_text())
    assert outcome["valid_rate"] == 1.0, done.stdout + done.stderr
    assert outcome["outcomes"]["valid"] == outcome["total"] > 0


@pytest.mark.slow
def test_an_openenv_client_walks_through_the_server(tmp_path: Path) -> None:
    python = python_of("openenv")
    script = ROOT / "environments" / "openenv" / "tests" / "walk.py"
    env = {**environment("openenv"), "HOME": str(tmp_path)}
    done = subprocess.run([python, script], env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reward 1.0" in done.stdout


@pytest.mark.slow
def test_openenv_accepts_the_package(tmp_path: Path) -> None:
    words = [
        python_of("openenv").with_name("openenv"),
        "validate",
        ROOT / "environments" / "openenv",
        "--level",
        "static",
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=280, env={**os.environ, "HOME": str(tmp_path)})
    assert "Verdict: PASS" in done.stdout, done.stdout + done.stderr


LOAD = """
import json, sys, datasets
from huggingface_hub import DatasetCard
folder = sys.argv[1]
splits = {name: datasets.load_dataset(folder, name) for name in datasets.get_dataset_config_names(folder)}
rows = {name: {split: data.num_rows for split, data in loaded.items()} for name, loaded in splits.items()}
card = DatasetCard.load(folder + "/README.md").data.to_dict()
print(json.dumps({"rows": rows, "prompt": splits["tools"]["test"][0]["prompt"], "card": card}))
"""


@pytest.mark.slow
def test_datasets_loads_the_export(tmp_path: Path) -> None:
    python, names = python_of("trl"), {"test": "held_out", "train": "train"}
    words = [
        f"training/{names['test']}.yaml",
        "--train",
        f"training/{names['train']}.yaml",
        "--out",
        str(tmp_path / "set"),
    ]
    words += ["-o", "suite.graphs.*.count=1"]
    subprocess.run([sys.executable, "-m", "graphwalk", "export", "dataset", *words], cwd=ROOT, check=True, timeout=280)
    env = {**os.environ, "HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([python, "-c", LOAD, tmp_path / "set"], env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert {name: set(splits) for name, splits in loaded["rows"].items()} == {
        "tools": {*names},
        "graphs": {*names},
    }
    assert all(number > 0 for splits in loaded["rows"].values() for number in splits.values())
    assert [message["role"] for message in loaded["prompt"]] == ["system", "user"]
    assert (loaded["card"]["license"], loaded["card"]["size_categories"]) == ("mit", ["n<1K"])


@pytest.mark.slow
async def test_trl_trains_on_traces(tmp_path: Path) -> None:
    python = python_of("trl")
    files = []
    for name, suite in (("questions", QUESTIONS), ("mazes", MAZES)):
        run = await recorded(tmp_path / name, suite, "expert", "varied")
        files.append(tmp_path / f"{name}.jsonl")
        export_traces([run], files[-1], TraceOptions(refusals=50))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    words = [python, "-m", "training.check_trl", *files]
    done = await asyncio.to_thread(subprocess.run, words, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "chats" in done.stdout
