"""The contract of questions, checked for each one that ships."""

import pytest

from graphwalk.errors import ConfigError
from graphwalk.suites.questions.catalogue import shipped_kinds
from tests.contracts.extension_checks import check_question


@pytest.mark.parametrize("name", shipped_kinds())
def test_shipped_question(name: str) -> None:
    check_question(name, graphs=1)


def test_unknown_question() -> None:
    with pytest.raises(ConfigError, match="why"):
        check_question("why")
