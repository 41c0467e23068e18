"""testcontainers as a user writes it: the example of docs/running.md."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cleanup import LABEL, containers_of
from tests.docker.engine import ROOT, need
from tests.neo4j_servers import HOME, RELEASES

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]


def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    need("5.26")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/running.md").read_text(), re.DOTALL)
    (code,) = (block for block in blocks if "Neo4jContainer" in block)
    assert RELEASES["5.26"].version in code
    folder = Path(os.environ[HOME])
    containers_of(folder).touch()
    code = code.replace('password="', f'labels={{"{LABEL}": "{folder}"}}, password="')
    (tmp_path / "test_mine.py").write_text(code)
    shutil.copy(ROOT / "tests/data/films.json", tmp_path / "films.json")
    bin_folder = str(Path(sys.executable).parent)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
