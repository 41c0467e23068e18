"""Training and evaluation share prompts, and neither names nor wordings."""

from pathlib import Path

import pytest

from graphwalk.runs.experiment import load_experiment

TRAINING = Path(__file__).parents[2] / "training"


@pytest.mark.parametrize(
    "folder", [TRAINING, TRAINING / "walking_and_reading"], ids=["all kinds", "walking and reading"]
)
def test_experiments_of_a_training(folder: Path) -> None:
    train, held_out = (load_experiment(str(folder / f"{split}.yaml")).model_dump() for split in ("train", "held_out"))
    assert {graph["names"] for graph in train["suite"]["graphs"]} == {"train"}
    assert {graph["names"] for graph in held_out["suite"]["graphs"]} == {"held_out"}
    assert (train["suite"]["wording"], held_out["suite"]["wording"]) == ("training", "held_out")
    assert train["seed"] != held_out["seed"]
    agents = [experiment["agent"] | {"tool_protocol": "text"} for experiment in (train, held_out)]
    assert agents[0] == agents[1]
