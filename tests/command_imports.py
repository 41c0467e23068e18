"""The imports of all commands, and the shipped kinds of questions, which take half a second to read.

The fork server of `tests.forked_commands` makes them once, for every command that it starts.
"""

import gc
import importlib
import pkgutil
from contextlib import suppress

import graphwalk
from graphwalk.suites.questions.catalogue import shipped_kinds

LIBRARIES = ("kglite", "langgraph.graph", "langchain_core.messages", "neo4j", "openai", "rich.progress", "rich.table")


def import_all() -> None:
    names = list(LIBRARIES)
    for module in pkgutil.walk_packages(graphwalk.__path__, "graphwalk."):
        if not module.name.endswith("__main__"):  # which would start the command line
            names.append(module.name)
    for name in names:
        with suppress(ImportError):  # an extra that is not installed
            importlib.import_module(name)


import_all()
shipped_kinds()
gc.collect()
gc.freeze()  # a fork does not copy the pages that a collection would write to
