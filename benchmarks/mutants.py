"""What the tests of scoring notice: mutmut changes it in small ways; docs/reliability.md says what survived, and why.

Each part is tried in a copy in build/mutants, with the tests that are to notice, by mutmut in a virtual environment of
its own (make mutants). A change that was noticed before is not tried again while its function stays as it is; those
that survived are. The table keeps the rows of parts that were not asked for.
"""

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.markers import DOCS, markdown_table, text_between_markers, write_between_markers
from benchmarks.mutants_that_survive import reason

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
COPIED = ("graphwalk", "tests", "templates", "tools", "benchmarks", "docs")
COLUMNS = ("module", "mutants tried", "noticed", "share", "survived, and why")
NOT_NOTICED = (0, 5, 33)
"""What mutmut notes for a change that no test notices, or that no test reaches."""
TIMED_OUT = (24, 36, -24, 152, 255)
_OF_PLAYERS = re.compile(r"\.kinds\.\w+\.x_(?:plan|_never)__")
"""The scripted expert stands beside the evaluators, and scores nothing."""


class Part(NamedTuple):
    """Modules (below graphwalk, one row of the table each) and the tests that are to notice changes in them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    but: str = "nothing_is_left_out"
    """Tests left out, as for `pytest -k`: those that take long, or measure how long something takes."""


_READING = ("extraction", "replies", "rows", "values")
PARTS = {
    "evaluators": Part(
        (
            "suites/questions/kinds/*.py",
            "suites/questions/rows.py",
            "suites/questions/graph_index.py",
        ),
        tuple(f"tests/suites/questions/test_{name}.py" for name in ("evaluators", "graph_index", "rows", "oracles")),
        "odd_graphs or cypher_gives or smallest_graph",
    ),
    "reading": Part(
        tuple(f"evaluation/{name}.py" for name in _READING),
        tuple(
            f"tests/evaluation/test_{name}.py"
            for name in (
                "candidates",
                "choice",
                "extraction",
                "marks",
                "relaxed",
                "replies",
                "rows",
                "values",
                "what_is_said",
            )
        ),
        "hostile_replies or million",
    ),
    "evidence": Part(
        ("evaluation/evidence.py",),
        ("tests/evaluation/test_evidence.py", "tests/evaluation/test_waste.py"),
    ),
    "statistics": Part(("evaluation/statistics.py", "evaluation/power.py"), ("tests/evaluation",), "test_coverage"),
    "questions": Part(("suites/questions/score.py",), ("tests/suites/questions/test_score.py",)),
    "mazes": Part(("suites/mazes/scoring.py",), ("tests/suites/mazes/test_scoring.py",)),
    "magma": Part(
        ("suites/magma/answers.py", "suites/magma/judgement.py", "suites/magma/scoring.py"),
        (
            "tests/suites/magma/test_answers.py",
            "tests/suites/magma/test_scoring.py",
            "tests/evaluation/test_replies.py",
        ),
        "hostile_texts or many_prefixes",
    ),
}
CONFIGURATION = """\
[tool.pytest.ini_options]
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "function"
pythonpath = ["."]
addopts = "-q --import-mode=importlib -p no:cacheprovider -p pytest_asyncio.plugin \
-p no:unraisableexception -p no:threadexception -p no:faulthandler -p no:logging"
filterwarnings = ["error"]
markers = ["neo4j", "slow"]
[tool.mutmut]
source_paths = ["graphwalk"]
only_mutate = {modules}
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-m", "not slow and not neo4j", "-k", "not ({but})"]
also_copy = ["templates", "tools", "benchmarks", "docs", "docker-compose.yml"]
use_git_change_detection = false
track_dependencies = false
timeout_multiplier = 8.0
timeout_constant = 2.0
"""
CONFTEST = '''\
"""Quick tests come first: one of them notices most changes. Hypothesis tries little, and does not shrink."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings

settings.register_profile(
    "mutants", max_examples=30, phases=[Phase.explicit, Phase.generate], deadline=None, database=None, derandomize=True
)
settings.load_profile("mutants")
WANTED = pytest.StashKey()


def pytest_configure(config):
    """Hundreds of tests are named one by one: their files are collected at once, since pytest looks up each name."""
    config.stash[WANTED] = set(config.args)
    config.args = list(dict.fromkeys(name.partition("::")[0] for name in config.args))


def pytest_sessionstart():
    """What was remembered before the change would hide it."""
    for module in [module for name, module in sys.modules.items() if name.startswith("graphwalk.")]:
        for held in vars(module).values():
            if hasattr(held, "cache_clear"):
                held.cache_clear()


def pytest_collection_modifyitems(config, items):
    stats = Path("mutmut-stats.json")
    seconds = json.loads(stats.read_text())["duration_by_test"] if stats.exists() else {}
    named = [item for item in items if item.nodeid in config.stash[WANTED]] or items
    items[:] = sorted(named, key=lambda item: seconds.get(item.nodeid, 0.0))
'''


def prepare(part: Part, work: Path) -> None:
    """A copy of the code and its tests. What clears up after a test run is left out: mutmut makes many in one."""
    for name in COPIED:
        shutil.copytree(ROOT / name, work / name, dirs_exist_ok=True)
    shutil.copy(ROOT / "docker-compose.yml", work)
    (work / "tests" / "conftest.py").write_text(CONFTEST)
    (work / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
    for module in part.modules:  # mutmut takes a newer file for one that it has mutated, and may only have copied it
        for changed in (work / "mutants" / "graphwalk").glob(module):
            changed.unlink()
    (work / "pyproject.toml").write_text(
        CONFIGURATION.format(
            modules=json.dumps([f"graphwalk/{module}" for module in part.modules]),
            tests=json.dumps(part.tests),
            but=part.but,
        )
    )


def run(part: Part, work: Path, seconds: float, workers: int) -> None:
    """Try what was not tried before, and what survived."""
    survived = not_noticed(part, work)
    prepare(part, work)
    mutmut(work, seconds, workers)
    again = survived & not_noticed(part, work)
    if again:
        mutmut(work, seconds, workers, *sorted(again))


def mutmut(work: Path, seconds: float, workers: int, *names: str) -> None:
    """Try these mutants; by default all that are new."""
    command = [str(Path(sys.executable).with_name("mutmut")), "run", "--max-children", str(workers), *names]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with subprocess.Popen(command, cwd=work, env=environment) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            print("the time is over; the table holds what was tried", file=sys.stderr)


def not_noticed(part: Part, work: Path) -> set[str]:
    """The names of the mutants that survived."""
    codes = [one for module in part.modules for one in outcomes(work, module).items()]
    return {name for name, code in codes if code in NOT_NOTICED}


def outcomes(work: Path, module: str) -> dict[str, int | None]:
    """Exit code of the tests for each mutant of a module, or of the modules that it stands for; None: not tried."""
    codes: dict[str, int | None] = {}
    for meta in sorted((work / "mutants" / "graphwalk").glob(f"{module}.meta")):
        codes |= json.loads(meta.read_text())["exit_code_by_key"]
    return {name: code for name, code in codes.items() if not _OF_PLAYERS.search(name)}


def change(work: Path, mutant: str) -> str:
    """The lines that a mutant has changed, as `before → after`."""
    module, _, name = mutant.rpartition(".")
    text = (work / "mutants" / f"{module.replace('.', '/')}.py").read_text()
    before, after = (_body(text, which) for which in (re.sub(r"mutmut_\d+$", "mutmut_orig", name), name))
    lines = [line for line in difflib.unified_diff(before, after, n=0) if re.match(r"[+-][^+-]", line)]
    sides = ["; ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+"]
    return " → ".join(sides)


def _body(text: str, name: str) -> list[str]:
    found = re.search(
        rf"^( *)(?:async )?def {re.escape(name)}\(.*?(?=^(?:\1|(?! ))[\w@]|\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found[0].splitlines()[1:] if found else []


def row(work: Path, module: str) -> list[str]:
    """One row of the table."""
    codes = outcomes(work, module)
    tried = [name for name, code in codes.items() if code is not None]
    left = [name for name in tried if codes[name] in NOT_NOTICED]
    changes = [change(work, name) for name in left]
    why: dict[str, int] = {}
    for text in changes:
        why[reason(module, text) or ""] = why.get(reason(module, text) or "", 0) + 1
    open_ = [f"`{text.replace('|', chr(92) + '|')}`" for text in changes if reason(module, text) is None]
    said = [f"{count}: {text}" for text, count in why.items() if text]
    share = f"{100 * (len(tried) - len(left)) / len(tried):.0f} %" if tried else ""
    slow = sum(codes[name] in TIMED_OUT for name in tried)
    noticed = f"{len(tried) - len(left)}{f' ({slow} by a time limit)' if slow else ''}"
    survived = "; ".join([*said, *([f"{len(open_)} not explained: {', '.join(open_[:3])}"] if open_ else [])])
    return [f"`{module}`", f"{len(tried)} of {len(codes)}", noticed, share, survived]


def merged(table: str, rows: Mapping[str, list[str]]) -> str:
    """The table with these rows in place of its own of the same modules, in the order of PARTS."""
    kept = {cells[0]: cells for cells in map(_cells, table.splitlines()[2:])} | dict(rows)
    order = [f"`{module}`" for part in PARTS.values() for module in part.modules]
    return markdown_table(COLUMNS, [kept[name] for name in order if name in kept])


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def survivors(work: Path, part: Part) -> Iterator[str]:
    """Those without a reason, for whoever writes tests."""
    for module in part.modules:
        for name, code in outcomes(work, module).items():
            text = change(work, name) if code in NOT_NOTICED else ""
            if text and reason(module, text) is None:
                yield f"{name}: {text}"


def asked(names: list[str]) -> dict[str, Part]:
    """The parts with those of their modules that are asked for: by name of the part or the module, all by default."""
    found = {}
    for name, part in PARTS.items():
        modules = part.modules if name in names or not names else tuple(m for m in part.modules if m in names)
        if modules:
            found[name] = part._replace(modules=modules)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", help=f"as in the table, or {', '.join(PARTS)}; default: all")
    parser.add_argument("--seconds", type=float, default=7200.0, help="at most for a part; what was tried counts")
    parser.add_argument("--workers", type=int, default=2, help="tests that run at a time (2)")
    options = parser.parse_args()
    for name, part in asked(options.modules).items():
        run(part, WORK / name, options.seconds, options.workers)
        rows = {f"`{module}`": row(WORK / name, module) for module in part.modules}
        print("\n".join(survivors(WORK / name, part)))
        table = merged(text_between_markers(DOCS / "reliability.md", "mutants"), rows)
        write_between_markers(DOCS / "reliability.md", "mutants", table)
        print(markdown_table(COLUMNS, list(rows.values())))


if __name__ == "__main__":
    main()
