"""Results as flat dictionaries, for tables."""

from typing import Any

from graphwalk.runlog.result import Result
from graphwalk.types.episode import Score

_OF_TASK = (
    *("template", "question", "gold", "gold_size"),
    *("par_turns", "par_calls", "par_input_tokens", "par_output_tokens"),
)
_OF_USAGE = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "cost")


def flat_record(result: Result, score_type: type[Score]) -> dict[str, Any]:
    """An episode as one row; a field of the score that is called like one of the episode gets `score_` in front."""
    score = result.score or dict.fromkeys(score_type.model_fields)
    usage = result.as_dict()["usage"]
    flat = {
        **result.key._asdict(),
        "exit_status": str(result.exit_status),
        "error": result.trajectory.error,
        "answer": result.answer,
        "turns": len(result.trajectory.turns),
        "tool_calls": len(result.trajectory.results),
        "seconds": result.seconds,
        "tool_seconds": result.trajectory.tool_seconds,
    }
    scored = {f"score_{name}" if name in flat else name: value for name, value in score.items()}
    return {
        **flat,
        **scored,
        **{f"task_{name}": result.task.get(name) for name in _OF_TASK},
        **{f"world_{name}": value for name, value in result.world.items()},
        **{f"usage_{name}": usage.get(name) for name in _OF_USAGE},
    }
