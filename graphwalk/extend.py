"""The names that packages of other people may use to extend GraphWalk.

They are versioned: a name that goes, or changes what it means, is announced in the change log. Every other name of
`graphwalk`, but those of `graphwalk.__all__`, may change at any time.

    model       CallOptions Message ModelError Reply ToolCall ToolSpec Usage Variables check_model
    store       Database EmbeddedDatabase GraphStore Identifiers PropertyGraph Row StoreError check_cypher
                check_store open_database
    suite       Spec SuiteConfig GraphSpec generate_graph Node Relationship stdlib_random GraphInstance LoadedGraph
                Suite Task Tasks Score Prompt AgentConfig Scoring Schema Extraction Trajectory ConfigError check_suite
    prompt      graph_prompt render_text AnswerForm rows_as_answer keys_as_answer
    score       ReplyForm extract compare_rows compare_sets
    scripted    Ask ScriptedAgent Policy flawed read_rows
    kind        GraphIndex KEY Plan PythonPart Rows Walker
    tool        GRAPH_TOOLS Toolbox ToolResult
    analysis    SuiteAnalysis Explanation SuiteReport Grouping Column PLAIN_COLUMNS one_decimal
    export      Episodes Result

The analysis, the export and the checks are imported when they are used: a run needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwalk.agent.prompt import AnswerForm, Prompt, keys_as_answer, rows_as_answer
from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.config.strict import Spec, SuiteConfig
from graphwalk.config.templates import render_text
from graphwalk.errors import ConfigError, ModelError, StoreError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import KEY, Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.models.scripted import Ask, Policy
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.runs.record import Result
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import Database, GraphStore, open_database
from graphwalk.stores.cypher import Identifiers
from graphwalk.stores.cypher_check import check_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.extraction import Extraction, ReplyForm, extract
from graphwalk.suites.flawed import flawed
from graphwalk.suites.graph_prompts import graph_prompt
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker
from graphwalk.suites.rows import compare_rows, compare_sets
from graphwalk.suites.suite import Score, ScriptedAgent, Suite, Task, Tasks
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS
from graphwalk.tools.toolbox import Toolbox
from graphwalk.variables import Variables

if TYPE_CHECKING:
    from graphwalk.analysis.exports.tables import Episodes
    from graphwalk.analysis.report.columns import PLAIN_COLUMNS
    from graphwalk.analysis.report.suite_report import Grouping, SuiteReport
    from graphwalk.analysis.report.text_table import Column, one_decimal
    from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis
    from graphwalk.testing import check_model, check_store, check_suite

__all__ = [
    "GRAPH_TOOLS",
    "KEY",
    "PLAIN_COLUMNS",
    "AgentConfig",
    "AnswerForm",
    "Ask",
    "CallOptions",
    "Column",
    "ConfigError",
    "Database",
    "EmbeddedDatabase",
    "Episodes",
    "Explanation",
    "Extraction",
    "GraphIndex",
    "GraphInstance",
    "GraphSpec",
    "GraphStore",
    "Grouping",
    "Identifiers",
    "LoadedGraph",
    "Message",
    "ModelError",
    "Node",
    "Plan",
    "Policy",
    "Prompt",
    "PropertyGraph",
    "PythonPart",
    "Relationship",
    "Reply",
    "ReplyForm",
    "Result",
    "Row",
    "Rows",
    "Schema",
    "Score",
    "Scoring",
    "ScriptedAgent",
    "Spec",
    "StoreError",
    "Suite",
    "SuiteAnalysis",
    "SuiteConfig",
    "SuiteReport",
    "Task",
    "Tasks",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "Toolbox",
    "Trajectory",
    "Usage",
    "Variables",
    "Walker",
    "check_cypher",
    "check_model",
    "check_store",
    "check_suite",
    "compare_rows",
    "compare_sets",
    "extract",
    "flawed",
    "generate_graph",
    "graph_prompt",
    "keys_as_answer",
    "one_decimal",
    "open_database",
    "read_rows",
    "render_text",
    "rows_as_answer",
    "stdlib_random",
]

_IMPORTED_WHEN_USED = {
    "Episodes": "graphwalk.analysis.exports.tables",
    "Explanation": "graphwalk.analysis.suite_analysis",
    "SuiteAnalysis": "graphwalk.analysis.suite_analysis",
    "SuiteReport": "graphwalk.analysis.report.suite_report",
    "Grouping": "graphwalk.analysis.report.suite_report",
    "Column": "graphwalk.analysis.report.text_table",
    "one_decimal": "graphwalk.analysis.report.text_table",
    "PLAIN_COLUMNS": "graphwalk.analysis.report.columns",
    "check_model": "graphwalk.testing",
    "check_store": "graphwalk.testing",
    "check_suite": "graphwalk.testing",
}
"""Name → its module, which brings data frames, or all of a run."""


def __getattr__(name: str) -> Any:
    if name not in _IMPORTED_WHEN_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_IMPORTED_WHEN_USED[name]), name)
    return value
