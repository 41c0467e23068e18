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
        """One of the texts of this name ("begin", or "plans.node_count"). KeyError for a name that has none."""
        return render_text(self._draw.choice(list(self._texts[name])), **values).strip()

    def has(self, name: str) -> bool:
        return name in self._texts


@cache
def thoughts_of(suite: str) -> Mapping[str, Sequence[str]]:
    """Name → texts; those of a group are called GROUP.NAME."""
    texts: dict[str, Sequence[str]] = {}
    for name, held in YamlFile.read(data_path("templates") / "thoughts" / f"{suite}.yaml").data.items():
        texts |= {f"{name}.{part}": held[part] for part in held} if isinstance(held, dict) else {name: held}
    return texts
