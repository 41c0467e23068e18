"""The fields of an experiment, its overrides, and the names of models."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import load_experiment, shipped_experiments


def test_every_shipped_experiment_is_in_a_group() -> None:
    folder = data_path("templates") / "experiments"
    assert sorted(shipped_experiments()) == sorted(path.stem for path in folder.glob("*.yaml"))


NAMED = {"name": "x", "suite": {"name": "questions"}, "models": ["openai/a", "openai/b"]}


def test_models_have_names_in_reports() -> None:
    config = load_experiment({**NAMED, "names": {"openai/a": "Alpha"}})
    assert config.names == {"openai/a": "Alpha"}
    assert load_experiment(yaml.safe_load(config.as_yaml())).names == config.names


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ({"openai/a": "A", "openai/b": "A"}, "two models have the name 'A'"),
        ({"openai/a": "openai/b"}, "two models have the name 'openai/b'"),
        ({"openai/a": " "}, "names.openai/a"),
        ({"openai/a": 3}, "names.openai/a"),
    ],
)
def test_wrong_names_of_models_are_refused(names: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(problem)):
        load_experiment({**NAMED, "names": names})


def write(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", shipped_experiments())
def test_every_shipped_experiment_is_valid_and_named_like_its_file(name: str) -> None:
    assert load_experiment(name).name == name


def test_overrides_reach_into_lists_and_mappings() -> None:
    config = load_experiment(
        "quickstart", ["seed=11", "suite.graphs.0.count=2", "limits.retries=1"], {"suite.graphs.*.count": 4}
    )
    assert (config.seed, config.limits.retries) == (11, 1)
    assert config.suite.name == "questions"
    assert config.suite.graphs[0].count == 4


def test_the_primary_comparison_is_recorded_and_may_name_settings_that_are_not_played() -> None:
    config = load_experiment("three-ways", flags={"settings": ["tools"]})
    assert config.model_dump(mode="json")["primary"] == ["tools", "no_tools"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("model: openai/m", "mine.yaml:3: model: there is no such field; did you mean models?"),
        ("settings:\n  - tool", "mine.yaml:4: settings: suite questions has no setting 'tool'; did you mean tools?"),
        ("primary: [tools, tool]", "mine.yaml:3: primary: suite questions has no setting 'tool'; did you mean tools?"),
        ("primary: [tools, tools]", "mine.yaml:3: primary: tools is named twice"),
        ("models: openai/m", 'mine.yaml:3: models: must be a valid list, not "openai/m"; write ["openai/m"]'),
        ("limits:\n  retries: many", "mine.yaml:4: limits.retries: must be a valid integer"),
        ("seed: ]", "mine.yaml:3: not valid YAML"),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_field(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_experiment(write(tmp_path, f"name: mine\nsuite: {{name: questions}}\n{lines}\n"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "-o seed: expected NAME=VALUE"),
        ("seed=[", "-o seed: the value is not YAML"),
        ("suite.graphs.9.count=1", "-o suite.graphs.9.count: the list has no entry '9'"),
        ("seed.x=1", "-o seed.x: 'x' cannot be set inside a plain value"),
        ("limits.retrys=3", "limits.retrys: there is no such field; did you mean retries?"),
        ("agent={turn_limit: 0}", "agent.turn_limit: must be greater than 0, not 0"),
        ("suite.graphs.*.nodes=few", "suite.graphs.0.nodes: must be a valid integer"),
    ],
)
def test_override_errors_name_the_field(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_experiment("quickstart", [override])
    assert str(caught.value).startswith(message)
    assert ".yaml" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "flags", "found"),
    [
        ("suite.questions=[./node_count.yaml]", {}, lambda config: config.suite.questions),
        ("agent={tools: [think, ./node_count.yaml]}", {}, lambda config: config.agent.tools[1:]),
        ("suite.graphs.1.file=node_count.yaml", {}, lambda config: [str(config.suite.graphs[1].file)]),
        ("suite.graphs=[{file: ./node_count.yaml}]", {}, lambda config: [str(config.suite.graphs[0].file)]),
        ("seed=1", {"suite.questions": ["./node_count.yaml"]}, lambda config: config.suite.questions),
    ],
)
def test_paths_of_the_command_line_are_relative_to_the_working_directory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    override: str,
    flags: dict[str, Any],
    found: Callable[[Any], Sequence[str]],
) -> None:
    text = (data_path("templates") / "questions" / "node_count.yaml").read_text()
    for folder in (tmp_path / "here", tmp_path / "there"):
        folder.mkdir()
        (folder / "node_count.yaml").write_text(text)
    graphs = "[{file: ./node_count.yaml}, {file: ./node_count.yaml, twin: true}]"
    experiment = write(tmp_path / "there", f"name: mine\nsuite: {{name: questions, graphs: {graphs}}}\n")
    monkeypatch.chdir(tmp_path / "here")
    config = load_experiment(experiment, [override], flags)
    assert list(found(config)) == [str(tmp_path / "here" / "node_count.yaml")]
    if "graphs=" not in override:
        assert config.suite.graphs[0].file == tmp_path / "there" / "node_count.yaml"


def test_a_path_that_is_not_there_is_named_as_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=re.escape(f"there is no file or folder {tmp_path / 'own'}")):
        load_experiment("quickstart", ["agent.prompts=./own"])


@pytest.mark.parametrize("field", ["options.extra", "model_arguments"])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_no_log_gives_back_is_refused(field: str, number: float) -> None:
    """A resume would send another request, and pay for each reply again."""
    settings = {"options": {"deep": [{"number": number}]}}
    with pytest.raises(ConfigError, match=r"not finite.*NaN"):
        load_experiment("quickstart", flags={field: {"openai": settings} if field == "model_arguments" else settings})
