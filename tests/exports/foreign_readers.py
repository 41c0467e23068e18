"""Read our logs with inspect_ai, in its Python: foreign_readers.py PATH…

Prints one JSON object. It imports nothing of GraphWalk.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any


def inspect(paths: Sequence[str]) -> dict[str, Any]:
    from inspect_ai.log import (
        read_eval_log,
        read_eval_log_sample,
        read_eval_log_sample_summaries,
        read_eval_log_samples,
    )

    logs = {}
    for path in paths:
        log = read_eval_log(path)
        samples = list(read_eval_log_samples(path))
        first = read_eval_log_sample(path, id=samples[0].id, epoch=samples[0].epoch)
        calls = [call for s in samples for m in s.messages for call in getattr(m, "tool_calls", None) or ()]
        logs[path] = {
            "status": log.status,
            "model": log.eval.model,
            "solver": log.plan.steps[0].solver,
            "samples": len(samples),
            "summaries": len(read_eval_log_sample_summaries(path)),
            "metrics": {s.name: {n: m.value for n, m in s.metrics.items()} for s in log.results.scores},
            "right": [s.scores["correct"].value for s in samples if s.scores],
            "messages": [len(s.messages) for s in samples],
            "parse_errors": [call.parse_error for call in calls if call.parse_error],
            "tool_errors": [m.error.type for s in samples for m in s.messages if getattr(m, "error", None)],
            "errors": [s.error.message for s in samples if s.error],
            "usage": {name: usage.total_tokens for name, usage in log.stats.model_usage.items()},
            "first": [first.id, first.epoch],
            "texts": [m.text for m in first.messages],
        }
    return logs


if __name__ == "__main__":
    print(json.dumps(inspect(sys.argv[1:])))
