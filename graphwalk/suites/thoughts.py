"""What scripted experts think, in words: texts in `templates/thoughts/SUITE.yaml`, several for one thing.

They are for people who train models on the walks of an expert. A suite fills them from the calls of the walk and from
what their results hold by then: from what the expert knows, and never from the target.
"""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from graphwalk.config.yaml_files import YamlFile
from graphwalk.jinja import render_text
from graphwalk.resources import data_path


class Thoughts:
    """The texts of one suite, of which `draw` chooses."""

    def __init__(self, suite: str, draw: random.Random) -> None:
        self._texts = thoughts_of(suite)
        self._draw = draw

    def say(self, name: str, /, **values: Any) -> str:
        """Return one of the texts of this name. KeyError for a name that has none."""
        return self.choose(self._texts[name], **values)

    def choose(self, texts: Sequence[str], /, **values: Any) -> str:
        """Return one of these texts, filled in."""
        return render_text(self._draw.choice(list(texts)), **values).strip()


@cache
def thoughts_of(suite: str) -> Mapping[str, Sequence[str]]:
    """Name → texts."""
    texts: dict[str, Sequence[str]] = YamlFile.read(data_path("templates") / "thoughts" / f"{suite}.yaml").data
    return texts
