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
COMMENTS = {
    ".py": re.compile(r"(?:^|\s)(# (?!noqa|type:).*)", re.M),
    ".yaml": re.compile(r"(?:^|\s)(# .*)", re.M),
    ".j2": re.compile(r"\{#(.*?)#\}", re.S),
}
"""Comments by suffix. Of templates only these are read: a changed prompt is another experiment."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each paragraph of Markdown, or of each docstring, comment and help text."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        plain = CODE.sub(lambda code: "x" + "\n" * code[0].count("\n"), source)
        starts = [0, *(block.end() for block in BLOCK.finditer(plain))]
        for start, end in zip(starts, [*starts[1:], None], strict=True):
            yield plain.count("\n", 0, start) + 1, plain[start:end]
        return
    for comment in COMMENTS[path.suffix].finditer(source):
        yield source.count("\n", 0, comment.start(1)) + 1, re.sub(r"`[^`]+`", "`code`", comment[1])
    for node in ast.walk(ast.parse(source)) if path.suffix == ".py" else ():
        value = node.value if isinstance(node, ast.Expr | ast.keyword) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and getattr(node, "arg", "help") == "help":
            yield value.lineno, re.sub(r"`[^`]+`", "`code`", value.value)


failed = False
for root in map(Path, sys.argv[1:]):
    for path in sorted(root.rglob("*.*")) if root.is_dir() else [root]:
        for line, text in texts(path) if path.suffix in (".md", *COMMENTS) else ():
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
