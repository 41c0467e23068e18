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
CODE = re.compile(
    r"^```.*?^```|^---\n.*?^---|<!-- \S+: begin.*?: end -->|<!--.*?-->|\{%.*?%\}|`[^`\n]+`|\]\([^)]*\)", re.M | re.S
)
BLOCK = re.compile(r"\n\s*\n|^(?=[ >]*(?:[*-]|\d+\.) )|^#.*\n|^(?=\|)", re.M)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each paragraph of Markdown, or of each docstring, comment and help text of Python."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        plain = CODE.sub(lambda found: "x" + "\n" * found[0].count("\n"), source)
        starts = [0, *(found.end() for found in BLOCK.finditer(plain))]
        for start, end in zip(starts, [*starts[1:], None], strict=True):
            yield plain.count("\n", 0, start) + 1, plain[start:end]
        return
    for number, line in enumerate(source.splitlines(), 1):
        if comment := re.search(r"(?:^|\s)# (?!noqa|type:).*", line):
            yield number, comment[0]
    for node in ast.walk(ast.parse(source)):
        value = node.value if isinstance(node, ast.Expr | ast.keyword) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and getattr(node, "arg", "help") == "help":
            yield value.lineno, value.value


failed = False
for root in map(Path, sys.argv[1:]):
    for path in sorted(root.rglob("*.*")) if root.is_dir() else [root]:
        for line, text in texts(path) if path.suffix in (".md", ".py") else ():
            faults = [f'"{word}"' for word in WORDS.findall(text)]
            if path.suffix == ".py" and re.match(r"(What|Whether)\b", text):
                faults.append("begins with What or Whether")
            if path.suffix == ".md":
                sentences = (sentence.split() for sentence in re.split(r"(?<=[.!?:;])\s|\|", text))
                faults += [f"over 40 words: {' '.join(words[:5])} …" for words in sentences if len(words) > 40]
            for fault in faults:
                sys.stdout.write(f"{path}:{line}: {fault}\n")
                failed = True
sys.exit(failed)
