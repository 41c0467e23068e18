"""The scene of a free question, with the evidence of its answer."""

from dataclasses import replace

from graphwalk.reports.scene import Scene, StateTable, trajectory_of
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.reports.text_table import plain
from graphwalk.suites.ask.evidence import evidence_keys, named_in
from graphwalk.suites.walked import walked_scene
from graphwalk.tools.observed import observed_graph


def ask_scene(record: ResultRecord) -> Scene:
    """Return the scene of an episode, with the evidence of the answer marked."""
    trajectory, question, answer = trajectory_of(record), record["task"]["question"], record["answer"]
    seen = observed_graph(trajectory.results)
    keys = evidence_keys(question, None if answer is None else plain(answer), seen)
    asked_about = set(named_in(question, seen)).intersection(keys)
    evidence = [key for key in keys if key not in asked_about]
    table = None if record["task"].get("gold") is not None else StateTable(("answer",), (("", answer),))
    scene = walked_scene(record, trajectory, asked_about, dict.fromkeys(evidence, "right"), table)
    return replace(scene, legend={**scene.legend, "right": "supports the answer"})
