import numpy as np
import pytest

from graphwalk.scoring.statistics import outcomes_of
from graphwalk.scoring.statistics.clusters import clustered


def test_distances_within_graphs_are_summed_measure_by_measure_over_what_is_known():
    values = [[0.0, 1.0], [1.0, 0.25], [0.5, np.nan], [1.0, 0.75], [0.0, np.nan]]
    seen = clustered(outcomes_of(values, ["a", "a", "b", "b", "c"]))
    assert seen.within == pytest.approx([0.5 + 0.125, 0.28125])
    assert seen.means == pytest.approx(np.array([[0.5, 0.625], [0.75, 0.75], [0.0, 0.0]]))
