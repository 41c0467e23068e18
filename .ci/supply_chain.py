"""Check the packages installed with GraphWalk: known weaknesses, licences, and a bill of materials.

python .ci/supply_chain.py audit | licences | bill FOLDER
"""

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from graphwalk.version import __version__

ROOT = Path(__file__).parents[1]
LOCKED = ROOT / "requirements"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?:\s*;\s*([^\\]+))?", re.MULTILINE)
_OFFLINE = re.compile(
    r"ConnectionError|NewConnectionError|NameResolutionError|Max retries exceeded|timed? ?out|ProxyError|"
    r"Temporary failure in name resolution|Network is unreachable|ServiceError|HTTPError",
    re.IGNORECASE,
)
_COPYLEFT = re.compile(r"(?<!L)(?:A?GPL|General Public)(?!.*Lesser)", re.IGNORECASE)
"""Licences that would bind what is distributed together with them."""


def pins(name: str) -> dict[str, str]:
    """Name → version of the packages that requirements/NAME.txt locks."""
    text = (LOCKED / f"{name}.txt").read_text(encoding="utf-8")
    return {found[1].lower(): found[2] for found in _PIN.finditer(text)}


def audit() -> int:
    """Return 1 if a locked package of users has a known weakness, else 0; print a note without a network."""
    words = ["--requirement", str(LOCKED / "run.txt"), "--require-hashes", "--disable-pip", "--timeout", "10"]
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        print("audit: no answer from the advisory service within 120 s; not audited")
        return 0
    said = f"{done.stdout}{done.stderr}".strip()
    if done.returncode and "Found" not in said and _OFFLINE.search(said):
        print("audit: the advisory service cannot be reached; not audited")
        return 0
    print(f"audit: {said.splitlines()[-1] if done.returncode == 0 else said}")
    return done.returncode


def licences() -> int:
    """Write requirements/licences.md; 1 where a package that users get may not be handed on with ours."""
    names, wanted = pins("run"), []
    for name in sorted(names):
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue  # for another system
        wanted.append((about["Name"], _licence(about)))
    lines = ["# Licences of what is installed with GraphWalk", "", "| package | licence |", "|---|---|"]
    lines += [f"| {name} | {licence} |" for name, licence in wanted]
    (LOCKED / "licences.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    binding = [f"{name}: {licence}" for name, licence in wanted if _COPYLEFT.search(licence)]
    print("\n".join(binding) or f"licences: {len(wanted)} packages, none with a copyleft licence")
    return bool(binding)


def _licence(about: "metadata.PackageMetadata") -> str:
    """The expression of its metadata, else its classifiers, else the first line of its field."""
    classifiers = [c.rpartition(" :: ")[2] for c in about.get_all("Classifier", []) if c.startswith("License ::")]
    expression, field = ((about.get_all(name) or [""])[0] for name in ("License-Expression", "License"))
    return expression or ", ".join(classifiers) or field.strip().split("\n")[0][:60] or "unknown"


def bill(folder: Path) -> int:
    """Write a CycloneDX bill of materials of what users get; the same bytes for the same lock."""
    place = folder / f"graphwalk_agents-{__version__}.cdx.json"
    words = ["--output-format", "JSON", "--output-reproducible", "--pyproject", str(ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", *words, "-o", str(place)]
    subprocess.run([*command, str(LOCKED / "run.txt")], check=True, capture_output=True)
    print(f"{place}: {len(json.loads(place.read_text(encoding='utf-8'))['components'])} components")
    return 0


if __name__ == "__main__":
    job, *rest = sys.argv[1:]
    sys.exit({"audit": audit, "licences": licences}[job]() if job != "bill" else bill(Path(rest[0])))
