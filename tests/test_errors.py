"""The text of errors."""

import pytest

from graphwalk.errors import ConfigError, GraphwalkError, ModelError


@pytest.mark.parametrize("kind", [ConfigError, ModelError, GraphwalkError])
def test_the_text_of_an_error_has_its_hint(kind: type[GraphwalkError]) -> None:
    assert str(kind("no model", hint="--model NAME")) == "no model\n  try: --model NAME"
    assert str(kind("no model")) == kind("no model", hint="--model NAME").message == "no model"
