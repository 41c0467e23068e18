"""A graph named on the command line: a file or folder, or a few words from which one is generated."""

from pathlib import Path
from typing import Any

from graphwalk.asynchronous import run_async
from graphwalk.environment import Environment
from graphwalk.errors import ConfigError
from graphwalk.types.graph import PropertyGraph

_HINT = "write it as nodes=100000,mean_degree=5,seed=7 (the options of graphwalk generate graph), or name a preset"


def read_graph_or_spec(place: Path, environment: Environment) -> PropertyGraph:
    """The graph in a file or folder (`read_any`), or that of `paper-500` or `nodes=100000,mean_degree=5,seed=7`.

    What is there as a file is read. ConfigError that says what is wrong with it.
    """
    from graphwalk.database.files import read_any
    from graphwalk.graphs.random.spec import GRAPH_PRESETS

    words = str(place)
    if not (words in GRAPH_PRESETS or "=" in words) or place.exists():
        return run_async(read_any(place, environment))
    return generated(words)


def generated(words: str) -> PropertyGraph:
    """The graph of `preset` or of `field=value,…`: fields of a GraphSpec, `seed` (0) and `index` (0)."""
    from graphwalk.config.yaml_files import parse_value, validate
    from graphwalk.graphs.random.generate import generate_graph
    from graphwalk.graphs.random.spec import GraphSpec

    given: dict[str, Any] = {"seed": 0, "index": 0}
    for word in words.split(","):
        name, equals, value = word.strip().partition("=")
        given[name if equals else "preset"] = parse_value(value, words) if equals else name
    seed, index = given.pop("seed"), given.pop("index")
    if type(seed) is not int or type(index) is not int or index < 0:
        raise ConfigError(f"{words}: seed and index must be whole numbers, and index at least 0", hint=_HINT)
    return generate_graph(validate(GraphSpec, given, words), seed, index)
