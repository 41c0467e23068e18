"""The fields of an experiment, and the names of models."""

import re

import pytest
import yaml

from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import load_experiment, shipped_experiments
from graphwalk.files.resources import data_path


def test_every_shipped_experiment_is_in_a_group() -> None:
    folder = data_path("templates") / "experiments"
    assert sorted(shipped_experiments()) == sorted(path.stem for path in folder.glob("*.yaml"))


NAMED = {"name": "x", "suite": {"name": "questions"}, "models": [{"model": "openai/a", "name": "Alpha"}, "openai/b"]}


def test_models_are_written_with_names_in_reports() -> None:
    config = load_experiment(NAMED)
    assert (config.models, config.names) == (("openai/a", "openai/b"), {"openai/a": "Alpha"})
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
