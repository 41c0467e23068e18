"""What a verification found: for each check how much holds, what differs, and what nobody can tell."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphwalk.errors import GraphwalkError, OracleError, RunLogError
from graphwalk.resources import quote
from graphwalk.runner.fingerprint import differences

CHECKS: Mapping[str, str] = {
    "lines": "lines whole, by their checksums",
    "episodes": "each planned episode once and none besides, as run.json counts them",
    "texts": "prompts, tools and questions as the run began with them",
    "graphs": "made again from the seed",
    "tasks": "made again from the seed, targets included",
    "targets": "worked out in a way that shares no code with the first",
    "prompts": "written again",
    "tool results": "every call made again on a fresh store",
    "turns": "follow-up questions, forced answers, how the episode ended",
    "replies": "said again by scripted players; of models, found in replies.jsonl",
    "scores": "answer and score read again from the reply",
    "totals": "turns, calls, tokens and seconds of each line",
}
_SHOWN = 10
"""Differences that a message names; all of them are in `--json`."""
_AROUND = 30
"""Characters shown on either side of the place where two texts part."""


@dataclass
class Check:
    """One row of the table. `unverified` counts by reason."""

    verified: int = 0
    differing: list[str] = field(default_factory=list)
    unverified: Counter[str] = field(default_factory=Counter)

    def compare(self, where: str, then: Any, now: Any, *, things: int = 1) -> None:
        """Count `things` as verified where `then` (logged) and `now` are equal JSON, else note where they part.

        `things` is 0 for a second comparison of what is counted elsewhere.
        """
        if then == now:
            self.verified += things
        else:
            self.differing.append(f"{where}: {parting(then, now)}")


@dataclass(frozen=True)
class Verification:
    """All checks of one run, by name in the order of `CHECKS`. `note` says what a reader should know beside them."""

    checks: Mapping[str, Check]
    note: str = ""

    @property
    def holds(self) -> bool:
        return not any(check.differing for check in self.checks.values())

    @property
    def error(self) -> GraphwalkError | None:
        """The first differences. OracleError where a target is wrong, RunLogError where the log is; None: all hold."""
        if self.holds:
            return None
        found = [f"{name}: {text}" for name, check in self.checks.items() for text in check.differing]
        more = [f"… and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        message = "\n".join(["what was logged does not come out again:", *found[:_SHOWN], *more])
        if self.checks["targets"].differing:
            return OracleError(message, hint="one of the two ways to the target is wrong; please report it")
        return RunLogError(
            message, hint=self.note or "the folder was changed after the run, or the code of the run was"
        )

    def as_json(self) -> str:
        checks = [
            {
                "check": name,
                "says": CHECKS[name],
                "verified": check.verified,
                "differing": check.differing,
                "unverified": dict(check.unverified),
            }
            for name, check in self.checks.items()
        ]
        return json.dumps({"holds": self.holds, "note": self.note, "checks": checks}, indent=2)


def no_findings() -> dict[str, Check]:
    return {name: Check() for name in CHECKS}


def parting(then: Any, now: Any) -> str:
    """In words where two JSON values part; of long texts only the place."""
    name, (before, after) = next(iter(differences({"": then}, {"": now}).items()), ("", (then, now)))
    field_name = name.removeprefix(".")
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > 2 * _AROUND:
        start = next(
            (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
        )
        cut = slice(max(0, start - _AROUND), start + _AROUND)
        before, after = before[cut], after[cut]
        field_name = f"{field_name}, character {start + 1}".removeprefix(", ")
    return f"{field_name or 'value'}: logged {quote(before)}, now {quote(after)}"
