import pytest
from pydantic import ValidationError

from graphwalk.graphs.generate import GRAPH_PRESETS, GraphSpec


@pytest.mark.parametrize("preset", GRAPH_PRESETS)
def test_presets_have_a_mean_out_degree_of_about_three(preset: str) -> None:
    spec = GraphSpec(preset=preset)
    assert spec.nodes == int(preset.removeprefix("paper-"))
    assert 2.9 < spec.probability * spec.relationship_types * 0.5 * (spec.nodes - 1) < 3.1


def test_explicit_fields_override_the_preset() -> None:
    spec = GraphSpec(preset="paper-150", values=3, mean_degree=2)
    assert (spec.nodes, spec.labels, spec.values, spec.density) == (150, 8, 3, None)
    assert spec.probability == pytest.approx(2 / (4 * 0.5 * 149))


def test_a_resolved_spec_is_a_spec_that_gives_the_same() -> None:
    spec = GraphSpec(nodes=50, labels=3, relationship_types=2, mean_degree=3, count=10)
    again = GraphSpec(**spec.resolved(4))
    assert again.probability == spec.probability
    assert (again.count, again.offset) == (1, 4)
    assert again.resolved() == spec.resolved(4)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"preset": "paper-99"},
            "unknown preset 'paper-99'; did you mean paper-500? the presets are paper-100, paper-150",
        ),
        ({"nodes": 3}, "4 labels need at least 4 nodes, not 3"),
        (
            {"nodes": 10, "mean_degree": 50},
            "mean_degree 50 is impossible: with every allowed pair of nodes joined it is 9",
        ),
        ({"density": 0.1, "mean_degree": 2}, "give density or mean_degree, not both"),
        ({"preset": "paper-100", "nodes": 1_000_000}, "about 29,999,970,000 relationships"),
        ({"values": 10_000, "properties": 50}, "about 3,000,000 different values"),
        ({"density": 1.5}, "less than or equal to 1"),
        ({"density": float("nan")}, "density"),
        ({"hops": 4}, "less than or equal to 3"),
        ({"node": 4}, "Extra inputs are not permitted"),
    ],
)
def test_impossible_values_are_errors(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        GraphSpec.model_validate(fields)
    assert message in str(caught.value)
