"""The text of errors."""

import pytest

from graphwalk import errors
from graphwalk.errors import ConfigError, GraphwalkError, ModelError, install_hint, manual


@pytest.mark.parametrize("kind", [ConfigError, ModelError, GraphwalkError])
def test_the_text_of_an_error_has_its_hint(kind: type[GraphwalkError]) -> None:
    assert str(kind("no model", hint="--model NAME")) == "no model\n  try: --model NAME"
    assert str(kind("no model")) == kind("no model", hint="--model NAME").message == "no model"


def test_hints_name_files_and_commands_of_a_checkout() -> None:
    assert install_hint("plots").startswith("pip install -e '.[plots]'")
    assert manual("own_graph") == "docs/own_graph.md"


def test_hints_of_an_installed_wheel_name_no_file_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "CHECKOUT", None)
    assert install_hint("plots").startswith("pip install 'graphwalk-agents[plots]'")
    assert manual("own_graph") == "GraphWalk's documentation, page Own graph,"
