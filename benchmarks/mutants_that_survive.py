"""Changes of scoring that no test notices since they make no difference, and why."""

import re

_EQUALLY_LONG = "the two are equally long, whoever checks it"
_EFFORT = "how much is tried before giving up: the tests of hostile replies measure that, and take too long here"
_NUMPY = "numpy takes the same type by itself"
REASONS: dict[str, dict[str, str]] = {
    "*": {
        r"strict=True.* → (?!.*strict=True)": _EQUALLY_LONG,
        r"strict=False.* → (?!.*strict=True)": "nothing is checked, as without it",
    },
    "suites/questions/kinds/*.py": {
        r"max\(counts.values\(\), default=": "where nothing is counted, nothing is held against the most",
    },
    "suites/questions/rows.py": {
        r"plain = (?:None|.* and value is None)|plain\) and False": "a row of plain values is copied",
        r"\(-2, 0\)|\(-1, 1\)": "null still comes before every value",
    },
    "suites/questions/graph_index.py": {
        r"_names\(.*→.*_names\((?:None|.XX|.RELATIONSHIP)": "whatever is not of nodes is of relationships",
        r"or True else \[\]": "no node's key is anything but text",
    },
    "suites/questions/score.py": {
        r"self\.invented = False →": "where it stays, there is no row, or nothing can be told, which comes first",
        r"self\.grounded (?:<= 1|< 2) and": "rows that are all proven have nothing invented in them",
    },
    "suites/mazes/scoring.py": {
        r"number (?:<= maze.size\*\*2|< maze.size\*\*3) else": "beyond the grid there is no cell, whatever it is",
    },
    "suites/magma/judgement.py": {r"if precision or recall": "both are 0, or none of the two"},
    "suites/magma/answers.py": {
        r"readings\[-2:\]": "what is no list ends its line, and the last one that does counts",
        r".(?:XXembeddedXX|EMBEDDED).$": "any word says that it is a list",
        r"or len\(text\) \+ 2\)": "nothing ends behind the text",
        r"XX\[\(\{XX": "no other letter is looked at",
    },
    "suites/magma/scoring.py": {
        r"content or .XXXX.": "neither text has a prefix",
        r"score.step >= diverged": "the step that diverged is not exact",
    },
    "evaluation/evidence.py": {
        r"ensure_ascii=None": "None is no more than False",
        r"start \+ 2\)": "no phrase begins again one character further on",
        r"position = 0, 1|position <= len": "nothing is before the first call, or behind the last",
        r"length > 1$": "a block has two calls at least",
        r"range\(2, min": "blocks of one call, or longer than what is before or after, repeat nothing",
        r"block\[1\] for": "calls that are not all equal differ from any of them",
        r"XXXX": "no result holds the word",
    },
    "evaluation/extraction.py": {
        r"or True else \[\]": "what the other shapes find is not looked at",
        r"\[:2\]: → ": "the slash of a closing tag stands second",
        r"shape.stage, (?:None|1), 0": "nobody asks where the text as a whole begins",
    },
    "evaluation/replies.py": {
        r"left - 1 →": _EFFORT,
        r"isascii\(\)\) and False": "ASCII has nothing to translate",
        r"after \+ .XX …XX": "any word behind it does",
        r"default=\((?:1, 0, 0|0, 1, 0|0, 0, 1)\)|start <= last|kind == _UNCLOSED\) and|\(None, True\)": (
            "a bracket without a partner can be read nowhere, and shares its place with no other"
        ),
        r"_MOST_|attempts.failed|self.failed|self._literals|^break →|if value is not None:$": _EFFORT,
    },
    "evaluation/rows.py": {
        r"or .XXXX.\).lower": "a text without a word is none of the words that stand for nothing",
        r"range\(len\(lines\)\)|number >= read_until": "the line is the first, or has no bars: no table begins there",
    },
    "evaluation/values.py": {
        r"\(.(?:XXjsonXX|JSON).,": "any mark tells a list or object from text",
        r"deepest|bracket in|_LITERAL_DEPTH": "it spares Python's parser what is refused as too deep all the same",
        r"raise ValueError\(.*→ raise ValueError\(": "the text of an error that is caught at once",
    },
    "evaluation/statistics.py": {
        r"initial=\+1|initial=-1\)\) \+ 2": "a graph without tasks adds nothing",
        r"dtype=np\.|astype\(None\)": _NUMPY,
        r"errstate": "nothing but 0 is divided by 0",
        r"generator\(seed, .*→.*generator\(seed, ": "another stream of random numbers is as good",
        r"rows = max\(|random.integers\(": "the same signs, in blocks or numbers of another size",
        r"\[0\.0\] \* .*→ .*\[1\.0\]": "every value is overwritten",
    },
    "evaluation/power.py": {
        r"^low, high = |high >= _MOST|^middle = ": "the search goes another way to the same number",
    },
}
"""Module (`*`: any) → a pattern of the changed lines, `before → after` → why no test can notice."""


def reason(module: str, change: str) -> str | None:
    """Why a change makes no difference; None where nobody has said so."""
    known = REASONS.get(module, {}) | REASONS["*"]
    return next((why for pattern, why in known.items() if re.search(pattern, change)), None)
