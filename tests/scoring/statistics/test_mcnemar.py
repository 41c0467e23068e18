import pytest

from graphwalk.scoring.statistics import mcnemar_exact


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (0, 5, 0.0625),
        (1, 9, 22 / 1024),
        (10, 0, 2 / 1024),
        (2, 8, 112 / 1024),
        (6, 16, 0.0524788),
    ],
)
def test_mcnemar_against_binomial_tables(first, second, p):
    assert mcnemar_exact(first, second) == pytest.approx(p, rel=1e-5)
    assert mcnemar_exact(second, first) == mcnemar_exact(first, second)


def test_mcnemar_of_many_pairs():
    assert mcnemar_exact(50_000, 50_000) == 1.0
    assert mcnemar_exact(0, 100_000) == 0.0
