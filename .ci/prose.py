"""Keep a few words, and in pages sentences over 40 words, out of the prose. Usage: prose.py PATH…"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

WORDS = re.compile(r"\b(nobody|somebody|whoever|anybody|what [^.]* besides)\b", re.IGNORECASE)
CODE = re.compile(
    r"^```.*?^```|^---\n.*?^---|<!-- \S+: begin.*?: end -->|<!--.*?-->|\{%.*?%\}|`[^`\n]+`|\]\([^)]*\)", re.M | re.S
)
SENTENCE_END = re.compile(r"(?<=[.!?:;])\s|\||\n\s*\n|^(?=[ >]*(?:[*-]|\d+\.) )|^#.*\n", re.M)
COMMENTS = {
    ".py": re.compile(r'(?:^|\s)# [^\n]*|""".*?"""', re.M | re.S),
    ".yaml": re.compile(r"(?:^|\s)# [^\n]*", re.M),
    ".j2": re.compile(r"\{#.*?#\}", re.S),
}
"""Comments and docstrings by suffix. Of templates only these are read: a changed prompt is another experiment."""


def faults(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line of each fault and what it is."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        for comment in COMMENTS[path.suffix].finditer(text):
            for word in WORDS.findall(comment[0]):
                yield text.count("\n", 0, comment.start()) + 1, f'"{word}"'
        return
    text = CODE.sub(lambda code: "x" + "\n" * code[0].count("\n"), text)
    start = 0
    for end in [*(end.end() for end in SENTENCE_END.finditer(text)), len(text)]:
        sentence = text[start:end]
        line = text.count("\n", 0, start) + 1
        for word in WORDS.findall(sentence):
            yield line, f'"{word}"'
        words = sentence.split()
        if len(words) > 40:
            yield line, f"over 40 words: {' '.join(words[:5])} …"
        start = end


failed = False
for root in map(Path, sys.argv[1:]):
    for path in sorted(root.rglob("*.*")) if root.is_dir() else [root]:
        for line, fault in faults(path) if path.suffix in (".md", *COMMENTS) else ():
            sys.stdout.write(f"{path}:{line}: {fault}\n")
            failed = True
sys.exit(failed)
