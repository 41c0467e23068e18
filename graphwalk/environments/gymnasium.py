"""Mazes and questions as Gymnasium environments with text observations and actions.

    import graphwalk.environments.gymnasium  # registers them
    env = gymnasium.make("graphwalk/Mazes-v0", experiment={…})

An observation is the prompt, then the result of each call. An action is a call as `{"name": …, "arguments": {…}}`, or
any other text as the answer. The answer ends the episode and returns the reward.
"""

import json
from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium import spaces

from graphwalk.environments.stage import OpenEpisode, Stage
from graphwalk.runs.playing.background import run_in_background

LONGEST_TEXT = 1 << 20
"""Characters of an observation or an action."""
EXPERIMENTS: Mapping[str, Mapping[str, Any]] = {
    "Mazes": {"name": "mazes", "suite": {"name": "mazes", "mazes": [{"size": 6, "min_path": 6, "count": 8}]}},
    "Questions": {"name": "questions", "suite": {"name": "questions", "graphs": [{"nodes": 40, "count": 2}]}},
}


class AnyText(spaces.Text):
    """Text of every character there is; samples are of letters."""

    def __init__(self) -> None:
        super().__init__(LONGEST_TEXT, min_length=0)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= LONGEST_TEXT

    def sample(self, *args: Any, **kwargs: Any) -> str:
        return "".join(map(chr, self.np_random.integers(ord("a"), ord("z") + 1, 12)))


class GraphwalkEnv(gymnasium.Env[str, str]):
    """One episode at a time over the tasks of an experiment; environments of one `stage` share its graphs."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 -- as Gymnasium declares it

    def __init__(
        self, experiment: Any = None, *, stage: Stage | None = None, render_mode: str | None = None, **flags: Any
    ) -> None:
        """Open a stage from `experiment` and `flags` (see `Stage.open`), or use an open `stage`."""
        self._owned = stage is None
        self.stage = stage or run_in_background(Stage.open(experiment, **flags))
        self.render_mode = render_mode
        self.observation_space, self.action_space = AnyText(), AnyText()
        self._episode: OpenEpisode | None = None
        self._last = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Return the prompt of the task `options["task"]`, or of one drawn by the seed."""
        super().reset(seed=seed)
        chosen = (options or {}).get("task")
        number = int(self.np_random.integers(len(self.stage))) if chosen is None else int(chosen)
        self._episode = run_in_background(self.stage.begin(number))
        self._last = "\n\n".join(message.content or "" for message in self._episode.prompt)
        tools = [spec.as_openai() for spec in self._episode.tools]
        return self._last, {"task_id": self._episode.task.task_id, "tools": tools}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Execute an action. The reward comes with the answer, or is 0 when the turn limit is reached."""
        assert self._episode is not None, "reset comes first"
        call = _call_in(action)
        if call is not None and self._episode.tools and self._episode.turns_left != 0:
            (result,) = run_in_background(self._episode.call(call))
            self._last = result.content
            return self._last, 0.0, False, False, {"error": result.error, "rows": result.rows}
        self._last = self._episode.reply(action) or ""
        if self._last:
            return self._last, 0.0, False, False, {}
        earned = self._episode.earned
        return "", earned.total if earned else 0.0, True, False, {"reward": earned, "gold": self._episode.task.gold}

    def render(self) -> str | None:
        return self._last if self.render_mode == "ansi" else None

    def close(self) -> None:
        if self._owned:
            run_in_background(self.stage.close())


def _call_in(action: str) -> tuple[str, Any] | None:
    """Return name and arguments of a call, or None for an answer."""
    try:
        read = json.loads(action)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or not {"name", "arguments"} <= read.keys() or not isinstance(read["name"], str):
        return None
    return read["name"], read["arguments"] if isinstance(read["arguments"], dict | str) else {}


for _name, _experiment in EXPERIMENTS.items():
    gymnasium.register(
        f"graphwalk/{_name}-v0",
        entry_point="graphwalk.environments.gymnasium:GraphwalkEnv",
        kwargs={"experiment": dict(_experiment)},
    )
