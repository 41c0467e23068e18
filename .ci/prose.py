"""Check prose: banned words, descriptive docstrings, sentences over 40 words. Usage: prose.py PATH…"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

WORDS = re.compile(
    r"\b(nobody|somebody|whoever|anybody|such as|in other words|what [^.]* besides|stands?|says|go(?:es|ne)? on|told"
    r"|standing graph|at par|turnstile|by heart|diary|broken off)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"^```.*?^```|^\|.*?$|^#.*?$|<!--.*?-->|`[^`]+`|\]\([^)]*\)|\{%.*?%\}|^ *[*-] ", re.M | re.S)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each paragraph of Markdown, and of each docstring and help text of Python."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        plain = CODE.sub(lambda found: "\n\n" * ("\n" in found[0] or found[0].lstrip()[:1] in "*-|#") or "x", source)
        yield from ((source.count("\n", 0, max(source.find(p[:20]), 0)) + 1, p) for p in re.split(r"\n\s*\n", plain))
        return
    for node in ast.walk(ast.parse(source)):
        value = node.value if isinstance(node, ast.Expr | ast.keyword) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and getattr(node, "arg", "help") == "help":
            yield value.lineno, value.value


status = 0
for file in (f for p in map(Path, sys.argv[1:]) for f in (sorted(p.rglob("*.*")) if p.is_dir() else [p])):
    for line, text in texts(file) if file.suffix in (".md", ".py") else ():
        faults = [f'"{word}"' for word in WORDS.findall(text)]
        faults += ["begins with What or Whether"] * (file.suffix == ".py" and bool(re.match(r"(What|Whether)\b", text)))
        long = (s for s in re.split(r"(?<=[.!?:;])\s", text) if file.suffix == ".md" and len(s.split()) > 40)
        for fault in [*faults, *(f"over 40 words: {' '.join(s.split()[:5])} …" for s in long)]:
            sys.stdout.write(f"{file}:{line}: {fault}\n")
            status = 1
sys.exit(status)
