"""GraphWalk: language models that walk a graph instead of reading it.

    import graphwalk

    graph = graphwalk.generate_graph("paper-100", seed=7)
    task = graphwalk.make_tasks(graph, seed=7)[0]
    result = graphwalk.play(task, graph, model="openai/gpt-4.1-mini")
    run = graphwalk.run("quickstart", models=["openai/gpt-4.1-mini"], graphs=1)
    run.to_pandas()
    graphwalk.compare(run)["overall"]

    graphwalk.ask("Who directed …?", "movies.graphml", model="openai/gpt-4.1-mini").answer

`graphwalk.api.__all__` lists the public names. They are imported on first use. Other names may change in any version.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwalk.version import __version__ as __version__

if TYPE_CHECKING:
    from graphwalk.api import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    api = import_module("graphwalk.api")
    if name == "__all__":
        return ["__version__", *api.__all__]
    if name not in api.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(api, name)
    return value


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
