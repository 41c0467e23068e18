"""What the tests of scoring notice: mutmut changes it in small ways; docs/reliability.md says what survived.

Works on a copy in build/mutants, with mutmut installed in a virtual environment of its own (make mutants). What was
tried before is not tried again while neither code nor tests change.
"""

import argparse
import difflib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.markers import DOCS, markdown_table, write_between_markers

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
COPIED = ("graphwalk", "tests", "templates", "tools", "benchmarks", "docs")
TRIED = {
    "scoring/rows.py": "tests/scoring",
    "scoring/extraction.py": "tests/scoring",
    "scoring/choice.py": "tests/scoring",
    "scoring/statistics/wilson.py": "tests/scoring",
    "scoring/statistics/holm.py": "tests/scoring",
    "scoring/statistics/mcnemar.py": "tests/scoring",
    "suites/questions/scoring.py": "tests/suites/questions",
}
"""Module → the tests that are to notice."""
EQUAL = {
    "x_holm__mutmut_3": "every value is overwritten",
    "x_wilson_bounds__mutmut_3": "numpy takes the same type by itself",
    "x_wilson_bounds__mutmut_5": "numpy takes the same type by itself",
}
"""Survivors that make no difference, and why."""
CONFIGURATION = """\
[tool.pytest.ini_options]
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "function"
pythonpath = ["."]
addopts = "-q --import-mode=importlib -p no:cacheprovider"
filterwarnings = ["error"]
markers = ["neo4j", "slow"]
[tool.mutmut]
source_paths = ["graphwalk"]
only_mutate = {modules}
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-m", "not slow and not neo4j"]
also_copy = ["templates", "tools", "benchmarks", "docs", "docker-compose.yml"]
use_git_change_detection = false
track_dependencies = false
timeout_multiplier = 8.0
timeout_constant = 2.0
"""


def copy(modules: list[str]) -> None:
    """The code and its tests. What clears up after a test run is left out: mutmut makes many in one process."""
    for name in COPIED:
        shutil.copytree(ROOT / name, WORK / name, dirs_exist_ok=True)
    shutil.copy(ROOT / "docker-compose.yml", WORK)
    (WORK / "tests" / "conftest.py").write_text("")
    (WORK / "pyproject.toml").write_text(
        CONFIGURATION.format(
            modules=json.dumps([f"graphwalk/{module}" for module in modules]),
            tests=json.dumps(sorted({TRIED[module] for module in modules})),
        )
    )


def survivors(module: str) -> tuple[int, int, list[str]]:
    """How many mutants there are, how many were tried, and the names of those that no test noticed."""
    meta = WORK / "mutants" / "graphwalk" / f"{module}.meta"
    codes = json.loads(meta.read_text())["exit_code_by_key"] if meta.exists() else {}
    tried = {name.rpartition(".")[2]: code for name, code in codes.items() if code is not None}
    return len(codes), len(tried), [name for name, code in tried.items() if code in (0, 5, 33)]


def changed(module: str, name: str) -> str:
    """The line that a mutant has changed."""
    text = (WORK / "mutants" / "graphwalk" / module).read_text()
    original = re.sub(r"mutmut_\d+$", "mutmut_orig", name)
    before, after = (_body(text, which) for which in (original, name))
    return "; ".join(line[1:].strip() for line in difflib.unified_diff(before, after, n=0) if re.match(r"\+[^+]", line))


def _body(text: str, name: str) -> list[str]:
    found = re.search(rf"^(?:async )?def {re.escape(name)}\(.*?(?=^[\w@])", text, re.MULTILINE | re.DOTALL)
    return found[0].splitlines()[1:] if found else []


def rows(modules: list[str]) -> Iterator[list[str]]:
    for module in modules:
        all_, tried, left = survivors(module)
        equal = [name for name in left if name in EQUAL]
        share = f"{100 * (tried - len(left)) / tried:.0f} %" if tried else ""
        open_ = [f"`{changed(module, name).replace('|', chr(92) + '|')}`" for name in left if name not in EQUAL]
        why = "; ".join(dict.fromkeys(EQUAL[name] for name in equal))
        note = "; ".join([*([f"{len(equal)} make no difference: {why}"] if equal else []), *open_[:3]])
        more = f" … and {len(open_) - 3} more" if len(open_) > 3 else ""
        yield [f"`{module}`", f"{tried} of {all_}", str(tried - len(left)), share, note + more]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", help=f"{', '.join(TRIED)}; default: all")
    parser.add_argument("--seconds", type=float, default=1800.0, help="at most; what was tried until then counts")
    options = parser.parse_args()
    modules = options.modules or list(TRIED)
    copy(modules)
    mutmut = Path(sys.executable).with_name("mutmut")
    try:
        subprocess.run([mutmut, "run", "--max-children", "2"], cwd=WORK, timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        print("the time is over; the table holds what was tried", file=sys.stderr)
    table = markdown_table(("module", "mutants tried", "noticed", "share", "survived"), list(rows(modules)))
    print(table)
    if not options.modules:
        write_between_markers(DOCS / "reliability.md", "mutants", table)


if __name__ == "__main__":
    main()
