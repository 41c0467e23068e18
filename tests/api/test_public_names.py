"""The names that other people's code may rely on."""

import subprocess
import sys

import graphwalk
import graphwalk.api

NAMES = (
    "Answer CallOptions ConfigError GraphwalkError Maze Message Model ModelError OpenAITools OracleError PropertyGraph "
    "Reply Result Reward Run RunLogError Store StoreError Task ToolCall ToolSpec Usage __version__ aask "
    "amake_tasks aopen_store aplay arun ask build_agent compare from_networkx generate_graph generate_maze langchain_tools make_tasks maze_graph "
    "open_run open_store openai_model openai_tools play potentials read_graph reward run schema_prompt step_rewards to_networkx write_graph "
)


def test_these_names_and_no_others_are_exported() -> None:
    """A name that goes, or a new one, is a change for everybody: it belongs into the change log."""
    assert sorted(graphwalk.__all__) == sorted(NAMES.split())
    assert dir(graphwalk) == sorted(graphwalk.__all__)


def test_importing_it_imports_nothing() -> None:
    code = "import sys, graphwalk; print(sorted(name for name in sys.modules if name.startswith('graphwalk')))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "['graphwalk', 'graphwalk.version']\n"


def test_asking_and_running_import_no_data_frame() -> None:
    code = "import sys, graphwalk; graphwalk.ask; graphwalk.run; print({'polars', 'scipy'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
