"""Measures of a suite's own fields."""

from pydantic import create_model

from graphwalk.analysis.report.measures import own_measures


def test_a_field_of_an_own_score_hides_no_column() -> None:
    fields = create_model("Own", tokens=(int, 0), model=(bool, True), steps_short=(int, 0)).model_fields
    assert [measure.name for measure in own_measures(fields)] == ["score_tokens", "score_model", "steps_short"]
