"""The contract of questions, checked for each one that ships."""

from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.testing import check_question


@pytest.mark.parametrize("name", shipped_kinds())
async def test_it_keeps_the_contract(name: str) -> None:
    await check_question(name, graphs=1)


async def test_an_unknown_question_is_told() -> None:
    with pytest.raises(ConfigError, match="why"):
        await check_question("why")


def test_the_list_above_is_all_there_is() -> None:
    files = Path(__file__).parents[2].glob("templates/questions/*.yaml")
    assert {path.stem for path in files} == set(shipped_kinds())
