"""A Compose project of each test, removed after it."""

import pytest

from tests.docker.engine import new_project

project = pytest.fixture(new_project)
