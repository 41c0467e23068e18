"""Packages of other people: copied into a temporary folder and installed there, with no change to the repository."""

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.forked_commands import graphwalk

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples"


@dataclass(frozen=True)
class Place:
    """A working folder, and a folder of installed packages beside it."""

    folder: Path
    site: Path

    @classmethod
    def at(cls, root: Path) -> "Place":
        (root / "work").mkdir()
        (root / "site").mkdir()
        return cls(root / "work", root / "site")

    def install(self, project: Path) -> None:
        """Install a project as pip does: its packages, and metadata with its entry points."""
        described = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for package in project.iterdir():
            if (package / "__init__.py").is_file():
                shutil.copytree(package, self.site / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        lines = []
        for group, points in described["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items()), ""]
        self._write_metadata(described["name"].replace("-", "_"), "\n".join(lines))

    def install_text(self, name: str, module: str, entry_points: str) -> None:
        """Install a package of a single module, for the mistakes that people make."""
        (self.site / f"{name}.py").write_text(module)
        self._write_metadata(name, entry_points)

    def _write_metadata(self, name: str, entry_points: str) -> None:
        info = self.site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)

    def python(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        hidden = {name for name in os.environ if name.endswith("_API_KEY") or name.startswith(("NEO4J_", "OPENAI_"))}
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        path = os.pathsep.join([str(self.site), str(REPOSITORY)])
        return subprocess.run(
            [sys.executable, *map(str, words)],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**environment, "PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "120", **variables},
            timeout=120,
            check=False,
        )

    def graphwalk(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(self.site), str(REPOSITORY)])
        return graphwalk(*words, folder=self.folder, **{"PYTHONPATH": path, "COLUMNS": "120", **variables})
