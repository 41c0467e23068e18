"""The imports of commands, made once for all that are forked from this process (`tests.commands`)."""

import importlib
import pkgutil
from contextlib import suppress

import graphwalk

LIBRARIES = ("kglite", "langgraph.graph", "langchain_core.messages", "neo4j", "openai", "rich.progress", "rich.table")
OWN = [module.name for module in pkgutil.walk_packages(graphwalk.__path__, "graphwalk.")]

for name in (*LIBRARIES, *(name for name in OWN if not name.endswith("__main__"))):
    with suppress(ImportError):  # an extra that is not installed
        importlib.import_module(name)
