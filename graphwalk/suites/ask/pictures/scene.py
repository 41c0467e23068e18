"""A question of one's own as it was walked; what its answer rests on stands out."""

from graphwalk.report.declared import ResultRecord
from graphwalk.report.scenes import Scene, StateTable
from graphwalk.suites.ask.evidence import named_in
from graphwalk.suites.ask.pictures.pictures import evidence_in
from graphwalk.suites.walked import walked_scene
from graphwalk.toolbox.seen import seen_in
from graphwalk.types.episode import Trajectory
from graphwalk.types.wire import from_dict


def ask_scene(record: ResultRecord) -> Scene:
    """Nobody knows the target: nodes of the evidence count as answered."""
    trajectory = from_dict(Trajectory, record["trajectory"])
    asked = set(named_in(record["task"]["question"], seen_in(trajectory.results)))
    evidence = [node.key for node in evidence_in(record).nodes if node.key not in asked]
    said = StateTable(("answer",), (("", record["answer"]),) if record["answer"] else ())
    scene = walked_scene(trajectory, asked, dict.fromkeys(evidence, "right"), said)
    return Scene(scene.steps, scene.nodes, scene.links, comparison=said, legend={**scene.legend, "right": "evidence"})
