"""Measures that every suite has: where they are read from in a result."""

from collections.abc import Callable
from typing import Any

from graphwalk.report.declared import Measure, ResultRecord
from graphwalk.types.episode import ExitStatus


def scored(name: str) -> Callable[[ResultRecord], float | None]:
    """A field of the score, None where there is no score."""

    def value(result: ResultRecord) -> float | None:
        score = result["score"]
        return None if score is None else _number(score.get(name))

    return value


def if_scored(read: Callable[[ResultRecord], float | None]) -> Callable[[ResultRecord], float | None]:
    """Infrastructure failures are left out, so that they do not count as anybody's mistake."""
    return lambda result: None if result["score"] is None else read(result)


def usage(name: str) -> Callable[[ResultRecord], float | None]:
    """A field of the usage; of failed episodes too, since they were paid for."""
    return lambda result: _number(result["usage"].get(name))


def count_if(condition: Callable[[ResultRecord], bool]) -> Callable[[ResultRecord], float | None]:
    return lambda result: float(condition(result))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _tokens(result: ResultRecord) -> float | None:
    known = [n for n in (result["usage"].get("input_tokens"), result["usage"].get("output_tokens")) if n is not None]
    return sum(known) if known else None


def _calls_over_par(result: ResultRecord) -> float | None:
    par = result["task"].get("par_calls")
    return result["tool_calls"] / par if par and result["tool_calls"] else None


OUTCOME = (
    Measure("questions", "count", count_if(lambda result: result["score"] is not None)),
    Measure("correct", "count", count_if(lambda result: bool(result["score"] and result["score"]["correct"]))),
    Measure("accuracy", "percent", scored("correct")),
    Measure("lossy_readings", "count", count_if(lambda result: bool(result["score"] and result["score"].get("lossy")))),
    Measure(
        "infrastructure_failures",
        "count",
        count_if(lambda result: ExitStatus(result["exit_status"]).infrastructure),
    ),
)
"""`questions` have a score, `correct` are right, `accuracy` is their share in percent.
`lossy_readings`: the reply holds something like an answer that was not read."""

EFFORT = (
    Measure("turns_per_question", "mean", if_scored(lambda result: result["turns"])),
    Measure("tool_calls", "count", if_scored(lambda result: result["tool_calls"])),
    Measure("calls_per_question", "mean", if_scored(lambda result: result["tool_calls"])),
    Measure("calls_over_par", "mean", if_scored(_calls_over_par)),
    Measure("seconds", "total", if_scored(lambda result: result["seconds"])),
    Measure("seconds_per_question", "mean", if_scored(lambda result: result["seconds"])),
    Measure("input_tokens", "count", usage("input_tokens")),
    Measure("output_tokens", "count", usage("output_tokens")),
    Measure("reasoning_tokens", "count", usage("reasoning_tokens")),
    Measure("cached_tokens", "count", usage("cached_tokens")),
    Measure("tokens", "count", _tokens),
    Measure("cost", "total", usage("cost")),
    Measure("cost_unknown", "count", count_if(lambda result: result["usage"].get("cost") is None)),
)
"""Calls and seconds (model and tools) of scored episodes; tokens and cost (US dollars) of all. `calls_over_par`: calls
over those of the scripted expert. `cost_unknown`: episodes whose provider reported no cost."""
