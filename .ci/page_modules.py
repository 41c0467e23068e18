"""Check the modules of the page: `python .ci/page_modules.py`.

The page holds them joined to one module, without imports (`graphwalk.serve.page`). So each import must name an export
of a module before it, and no name may be declared in two modules.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from graphwalk.serve.page import MODULES

FOLDER = Path(__file__).parents[1] / "templates" / "page"
LONGEST_LINE = 120
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
DECLARATION = re.compile(r"^(export )?(?:async )?(?:const|let|function|class) (\w+)", re.MULTILINE)
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|^\s*/.*/\w*;$|//.*', re.MULTILINE)
"""Texts, a regular expression on a line of its own, and comments."""
TWO_STATEMENTS = re.compile(r";[ \t]*[^\s;]")
LOOP_HEAD = re.compile(r"\bfor \([^;]*;[^;]*;")


def problems(name: str, text: str, exports: dict[str, set[str]]) -> Iterator[tuple[int, str]]:
    """Yield the problems of a module with their lines. `exports`: names by module, of the modules before it."""
    code = IMPORT.sub(line_breaks, text)
    code = LITERAL.sub(lambda match: "" if match[0].startswith("//") else f'""{line_breaks(match)}', code)
    used = code + " ".join(re.findall(r"\$\{([^}]*)", text))
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST_LINE:
            yield number, f"the line has {len(line)} characters"
    for number, line in enumerate(code.splitlines(), 1):
        if TWO_STATEMENTS.search(LOOP_HEAD.sub("", line)):
            yield number, "two statements on one line"
        if re.search(r"\bvar\b|[^=!]==[^=]|!=[^=]", line):
            yield number, "use const, let, === and !=="
    for match in IMPORT.finditer(text):
        number = text[: match.start()].count("\n") + 1
        for imported in filter(None, re.split(r"[\s,]+", match[1])):
            if imported not in exports.get(match[2], ()):
                yield number, f"{match[2]}.js, if it comes before {name}.js, does not export {imported}"
            if not re.search(rf"\b{imported}\b", used):
                yield number, f"{imported} is not used"


def line_breaks(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def main() -> int:
    exports: dict[str, set[str]] = {}
    declared: dict[str, str] = {}
    found = 0
    for name in MODULES:
        text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
        messages = list(problems(name, text, exports))
        for match in DECLARATION.finditer(text):
            if other := declared.get(match[2]):
                number = text[: match.start()].count("\n") + 1
                messages.append((number, f"{match[2]} is declared in {other}.js too"))
            declared[match[2]] = name
            if match[1]:
                exports.setdefault(name, set()).add(match[2])
        for number, message in messages:
            print(f"templates/page/{name}.js:{number}: {message}")
        found += len(messages)
    if missing := {path.stem for path in FOLDER.glob("*.js")} - set(MODULES):
        print(f"not in graphwalk.serve.page.MODULES: {', '.join(sorted(missing))}")
    return 1 if found or missing else 0


if __name__ == "__main__":
    sys.exit(main())
