"""The exploration of mazes as an animation: one HTML file that needs no network and obeys no text in it."""

import base64
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from graphwalk.jinja import render_page
from graphwalk.resources import data_path
from graphwalk.suites.mazes.episodes import MazeEpisode


def walk_html(episodes: Iterable[MazeEpisode], title: str) -> str:
    """A page that plays the episodes. The browser runs its script and takes its style by their hashes only."""
    script, style = (_asset(f"maze_walk.{kind}") for kind in ("js", "css"))
    return render_page(
        "reports/maze_walk.html.j2",
        title=title,
        script=script,
        style=style,
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'",
        data=_inert_json([_plain(episode) for episode in episodes]),
    )


def _plain(episode: MazeEpisode) -> dict[str, Any]:
    maze = episode.maze
    return {
        "title": episode.title,
        "verdict": episode.verdict,
        "size": maze.size,
        "walls": maze.walls,
        "start": maze.start,
        "goal": maze.goal,
        "steps": [[step.kind, step.cell] for step in episode.walk.steps],
        "path": episode.path,
    }


def _inert_json(data: Any) -> str:
    """JSON that can stand in an HTML script element: nothing in it ends the element or begins a comment."""
    return json.dumps(data).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _asset(name: str) -> str:
    return (data_path("templates") / "reports" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
