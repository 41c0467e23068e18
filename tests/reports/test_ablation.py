"""The table of levers: gains against the base, worth against all levers, for each model."""

from typing import Any

import pytest

from graphwalk.reports.ablation import ablation_rows


def pair(first: str, second: str, difference: float | None) -> dict[str, Any]:
    interval = None if difference is None else [difference - 1, difference + 2]
    return {
        "first_model": "m",
        "first_setting": f"tools:{first}",
        "second_model": "m",
        "second_setting": f"tools:{second}",
        "measures": {"accuracy": {"difference": difference, "interval": interval}},
    }


SHARES = {"base": 20.0, "all": 50.0, "+names": 30.0, "-names": 45.0, "+guidance": 20.0}
ROWS = [{"model": "m", "setting": f"tools:{name}", "accuracy": share} for name, share in SHARES.items()]
PAIRS = [
    pair("+names", "base", 10.0),
    pair("-names", "all", -5.0),
    pair("all", "base", 30.0),
    pair("base", "+guidance", 0.0),
]


def test_differences_have_the_sign_of_the_lever_whatever_their_order() -> None:
    names, guidance, every = ablation_rows(ROWS, PAIRS, "accuracy")
    assert (names["lever"], names["alone"], names["gain"], names["left_out"], names["worth"]) == (
        "names",
        30,
        10,
        45,
        5,
    )
    assert names["intervals"] == {"gain": [9, 12], "worth": [3, 6]}
    assert (guidance["gain"], guidance["intervals"]["gain"], guidance["worth"]) == (0, [-2, 1], None)
    assert (every["lever"], every["alone"], every["left_out"], every["gain"]) == ("all levers", 50, 20, 30)


@pytest.mark.parametrize("missing", ["base", "all"])
def test_without_base_or_all_there_is_no_table(missing: str) -> None:
    rows = [row for row in ROWS if row["setting"] != f"tools:{missing}"]
    assert ablation_rows(rows, PAIRS, "accuracy") == []
