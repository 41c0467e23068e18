"""YAML as configuration needs it: plain data only, bounded, and no field given twice."""

import re
from typing import Any

import yaml

LONGEST_TEXT = 500_000
"""Characters; the largest file that ships has 6,000."""
MOST_VALUES = 10_000
"""Values, lists and mappings; each takes a thousand bytes and some microseconds."""
DEEPEST = 50
"""Lists and mappings inside one another."""
MOST_ALIASES = 100
"""Uses of `*name`: each can stand for a large part of the document, which then has to be gone through again."""
_LONGEST_NUMBER = 1_000
_NO_TEXT = "it has a character that text cannot have"
_PLAIN_TAGS = "tag:yaml.org,2002:"
_OTHER_TAGS = frozenset(f"{_PLAIN_TAGS}{name}" for name in ("binary", "omap", "pairs", "set"))
"""They make values that no JSON holds."""
_HALF = re.compile("[\ud800-\udfff]")
"""Half of a pair of characters, which can be written as an escape and not as text."""


class YamlMistakeError(Exception):
    """What is wrong with a text, in words; `line` from 1, None where it is not known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def read_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """The data, and the tree that knows its lines. YamlMistakeError for anything else than plain, bounded data."""
    if len(text) > LONGEST_TEXT:
        raise YamlMistakeError(f"it is longer than {LONGEST_TEXT:,} characters")
    try:
        loader = _Loader(text)
        tree = loader.get_single_node()
        return (None if tree is None else loader.construct_document(tree)), tree
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise YamlMistakeError(_in_words(error), mark.line + 1 if mark else None) from error


class _Loader(yaml.SafeLoader):
    """The safe loader, with bounds; what it cannot make a value of is said with its line."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._aliases = 0
        self._values = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            self._aliases += 1
        self._depth += 1
        self._values += 1
        bounds = (
            (self._depth, DEEPEST, "levels of lists and mappings"),
            (self._aliases, MOST_ALIASES, "aliases"),
            (self._values, MOST_VALUES, "values"),
        )
        for number, most, what in bounds:
            if number > most:
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                raise YamlMistakeError(f"more than {most:,} {what}", mark.line + 1)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        line = node.start_mark.line + 1
        if node.tag in _OTHER_TAGS:
            raise YamlMistakeError(_tag_refused(node.tag), line)
        if isinstance(node, yaml.ScalarNode) and _HALF.search(node.value):
            raise YamlMistakeError(_NO_TEXT, line)
        if isinstance(node, yaml.ScalarNode) and not node.tag.endswith(":str") and len(node.value) > _LONGEST_NUMBER:
            raise YamlMistakeError(f"a number of more than {_LONGEST_NUMBER:,} characters", line)
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:
            raise YamlMistakeError(f"{node.value!r} is not a value: {error}", line) from error

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        lines: dict[Any, int] = {}
        for name, _ in node.value:
            line = name.start_mark.line + 1
            if not isinstance(name, yaml.ScalarNode):
                raise YamlMistakeError("the name of a field must be text, not a list or a mapping", line)
            if name.value in lines:
                raise YamlMistakeError(
                    f"the field {name.value!r} is given twice, first in line {lines[name.value]}", line
                )
            lines[name.value] = line
        return super().construct_mapping(node, deep)


_WORDS = (
    ("mapping values are not allowed", "a second `name: value` is in one line; put text with a colon in quotes"),
    ("found character '\\t'", "a tab is used to indent; use spaces"),
    ("while scanning a quoted scalar", "a quotation mark is not closed"),
    ("found unexpected end of stream", "a quotation mark is not closed"),
    ("expected ',' or ']'", "a list that begins with [ has no ]"),
    ("expected ',' or '}'", "a mapping that begins with { has no }"),
    ("expected the node content", "a value is missing, or a bracket has no partner"),
    ("expected <block end>", "a line is indented by other than those before it"),
    ("could not find expected ':'", "a name has no colon after it"),
    ("found undefined alias", "a *name refers to no &name before it; put text that begins with * in quotes"),
    ("expected a single document", "it holds more than one document; remove the line ---"),
    ("cannot start any token", "a value begins with a sign that YAML keeps for itself; put the text in quotes"),
)
"""Words of the YAML parser → ours."""


def _in_words(error: yaml.YAMLError) -> str:
    """What the parser found, without its jargon."""
    problem = str(getattr(error, "problem", None) or error)
    if "could not determine a constructor for the tag" in problem:
        return _tag_refused(problem.rpartition("tag ")[2].strip("'"))
    if "unacceptable character" in problem or isinstance(error, yaml.reader.ReaderError):
        return _NO_TEXT
    said = f"{getattr(error, 'context', None) or ''} {problem}"
    return next((words for part, words in _WORDS if part in said), problem)


def _tag_refused(tag: str) -> str:
    named = f"!!{tag.removeprefix(_PLAIN_TAGS)}" if tag.startswith(_PLAIN_TAGS) else f"!{tag.lstrip('!')}"
    return f"the tag {named} is not allowed; plain values only"
