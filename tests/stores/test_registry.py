"""A store that another package brings along: it is found by its entry point, and used through the command."""

from pathlib import Path

import pytest

from tests.extending.packages import Place

STORE = """
from graphwalk.stores.embedded import open_embedded


async def open_underived(environment, **settings):
    return object()
"""
ENTRY_POINTS = """[graphwalk.stores]
own = own_store:open_embedded
broken = own_store:no_such_function
underived = own_store:open_underived
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with an installed package that has three stores, one of which cannot be imported."""
    place = Place.at(tmp_path)
    place.install_text("own_store", STORE, ENTRY_POINTS)
    return place


def test_a_function_that_returns_something_else_is_an_error(place: Place) -> None:
    done = place.graphwalk("run", "quickstart", "--store", "underived", "--graphs", "1")
    problem = "must return a graphwalk.stores.base.Database"
    assert (done.returncode, problem in " ".join(done.stderr.split()), "Traceback" in done.stderr) == (2, True, False)
