"""The fields of an experiment, and the names of models."""

import re

import pytest
import yaml

from graphwalk.errors import ConfigError
from graphwalk.files.resources import data_path
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
