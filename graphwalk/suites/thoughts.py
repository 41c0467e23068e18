"""Thoughts of scripted experts for training data, from `templates/thoughts/SUITE.yaml`.

A suite fills them from the calls and results so far, never from the target.
"""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from graphwalk.config.jinja import render_text
from graphwalk.config.yaml_files import YamlFile
from graphwalk.files.resources import data_path


class Thoughts:
    """The texts of one suite; `draw` chooses between alternatives."""

    def __init__(self, suite: str, draw: random.Random) -> None:
        self._texts: Mapping[str, Sequence[str]] = _read(suite)
        self._draw = draw

    def say(self, name: str, /, **values: Any) -> str:
        """Return one of the texts of this name. Raise KeyError for an unknown name."""
        return self.choose(self._texts[name], **values)

    def choose(self, texts: Sequence[str], /, **values: Any) -> str:
        """Return one of these texts with its values."""
        return render_text(self._draw.choice(list(texts)), **values).strip()


@cache
def _read(suite: str) -> Any:
    return YamlFile.read(data_path("templates") / "thoughts" / f"{suite}.yaml").data
