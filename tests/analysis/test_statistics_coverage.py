"""A quick slice of `make coverage`."""

import pytest

from benchmarks.clustered_outcomes import Cell
from benchmarks.coverage import amounts, coverage, rejections, unequal


@pytest.mark.parametrize("cell", [Cell(5, 0.3, 1, 0.95), Cell(10, 0.3, 4, 0.1), Cell(30, 0.3, 1, 0.95)], ids=str)
def test_intervals_of_shares_hold_where_others_do_not(cell):
    shares = coverage(cell, 800)
    assert shares["share"] > 0.93
    assert shares["share, beta"] > 0.93
    assert shares["t"] < 0.9
    assert shares["episodes"] < 0.9


def test_intervals_of_skewed_amounts_are_too_narrow_with_few_graphs():
    assert 0.86 < amounts(5, 1.0, 2000) < 0.91
    assert 0.93 < amounts(100, 0.5, 1000) < 0.96


def test_equal_contestants_are_rarely_told_apart():
    shares = rejections(Cell(10, 0.3, 1, 0.5), 1000)
    assert 0.03 < shares["p ≤ 0.05"] < 0.07
    assert 0.92 < shares["covered"] < 0.98


@pytest.mark.parametrize(("design", "correlation"), [("1, 2, 30, …", 0.1), ("1, 2, 30, …", 0.3), ("9 × 2, 60", 0.3)])
def test_intervals_hold_where_graphs_have_unequally_many_tasks(design, correlation):
    accuracy, difference = unequal(design, correlation, 0.5, 1500)
    assert accuracy > 0.93
    assert difference > 0.93
