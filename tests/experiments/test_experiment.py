"""The fields of an experiment, as the schema and the documentation describe them."""

import json
import re

import pytest
import yaml
from jsonschema import Draft202012Validator

from graphwalk.errors import ConfigError
from graphwalk.experiments.experiment import experiment_schema
from graphwalk.experiments.loading import load_experiment, shipped_experiments
from graphwalk.files.resources import data_path

SHIPPED = data_path("templates") / "experiments" / "experiment.schema.json"


def test_the_schema_that_ships_is_that_of_the_code() -> None:
    assert json.loads(SHIPPED.read_text()) == experiment_schema(), "make format writes it"


def test_every_shipped_experiment_is_in_a_group() -> None:
    assert sorted(shipped_experiments()) == sorted(path.stem for path in SHIPPED.parent.glob("*.yaml"))


@pytest.mark.parametrize("name", shipped_experiments())
def test_shipped_experiments_follow_the_schema(name: str) -> None:
    text = shipped_experiments()[name].read_text()
    assert text.startswith(f"# yaml-language-server: $schema={SHIPPED.name}\n")
    validator = Draft202012Validator(experiment_schema())
    assert list(validator.iter_errors(yaml.safe_load(text))) == []
    assert list(validator.iter_errors(yaml.safe_load(load_experiment(name).as_yaml()))) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "{name: x, suite: {name: questions}, sed: 3}",
        "{name: x, suite: {name: questions, mazes: []}}",
        "{name: x, suite: {name: mazes, mazes: [{size: big}]}}",
        "{name: x, suite: {name: nothing}}",
    ],
)
def test_an_editor_sees_what_would_be_refused(wrong: str) -> None:
    assert list(Draft202012Validator(experiment_schema()).iter_errors(yaml.safe_load(wrong)))


NAMED = {"name": "x", "suite": {"name": "questions"}, "models": [{"model": "openai/a", "name": "Alpha"}, "openai/b"]}


def test_models_are_written_with_names_in_reports() -> None:
    config = load_experiment(NAMED)
    assert (config.models, config.names) == (("openai/a", "openai/b"), {"openai/a": "Alpha"})
    assert list(Draft202012Validator(experiment_schema()).iter_errors(NAMED)) == []
    again = load_experiment(yaml.safe_load(config.as_yaml()))
    assert (again.models, again.names) == (config.models, config.names)
    assert load_experiment(NAMED, flags={"models": ["openai/c"]}).names == {}
    assert load_experiment({**NAMED, "models": ["openai/b"]}).names == {}


@pytest.mark.parametrize(
    ("models", "problem"),
    [
        ([{"model": "openai/a", "name": "A"}, {"model": "openai/b", "name": "A"}], "two have the name 'A'"),
        ([{"model": "openai/a", "name": "openai/b"}, "openai/b"], "two have the name 'openai/b'"),
        ([{"model": "openai/a", "name": "b "}, {"model": "openai/b", "name": "b"}], "two have the name 'b'"),
        ([{"model": "openai/a", "name": " "}], "names.openai/a"),
        ([{"model": "openai/a", "name": 3}], "names.openai/a"),
        ([{"model": "openai/a"}], "expected provider/model, or {model: …, name: …}; got the fields model"),
        ([{"id": "openai/a", "name": "A"}], "expected provider/model"),
        ([{"model": "openai/a", "name": "A"}, "openai/a"], "openai/a is named twice"),
    ],
)
def test_wrong_names_of_models_are_refused(models: list[object], problem: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(problem)):
        load_experiment({**NAMED, "models": models})
