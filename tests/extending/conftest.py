"""A place to install packages in."""

from pathlib import Path

import pytest

from tests.extending.packages import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.at(tmp_path)
