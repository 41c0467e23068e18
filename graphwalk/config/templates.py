"""Jinja templates: the environment of all prompts, Cypher templates and pages, and the prompts of an agent.

Names are strict, nothing is escaped, and a sandbox keeps a template from running code and from reading what it is not
passed. It does not keep a template from wasting time: read another author's file before you run it, and stop it with
Ctrl-C.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from traceback import extract_tb
from typing import Any
from unicodedata import combining, normalize

from jinja2 import (
    BaseLoader,
    Environment,
    FileSystemLoader,
    FunctionLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
    meta,
    nodes,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from graphwalk.config.resources import YamlFile, data_path
from graphwalk.errors import ConfigError, GraphwalkError, did_you_mean
from graphwalk.sanitise import quote


def joined(values: Iterable[Any], separator: str = ", ") -> str:
    return separator.join(str(value) for value in values)


def with_article(noun: str) -> str:
    """Return the noun behind "a" or "an"; accents make no difference."""
    letters = "".join(letter for letter in normalize("NFKD", noun) if not combining(letter))
    article = "an" if _VOWEL_SOUND.match(letters) else "a"
    return f"{article} {noun}"


_VOWEL_SOUND = re.compile(r"(?!(?i:eu|one|once|u(?:ni[^mn]|s[aeu]|ti)))(?!U[A-Z]{0,2}$)(?i:[aeiouæøœ])")
"""Not European, one, unit, URL."""

TEXT_FILTERS: Mapping[str, Callable[..., str]] = {
    "quote": quote,
    "list": joined,
    "json": partial(json.dumps, ensure_ascii=False),
    "with_article": with_article,
}
"""Filters of prompts, tool texts and messages, in addition to Jinja's."""


class TextError(ValueError):
    """An error in a template. `line` counts from 1; `file` is None for a template that is no file."""

    def __init__(self, problem: str, line: int, file: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.file = file


def make_environment(
    filters: Mapping[str, Callable[..., Any]],
    *,
    loader: BaseLoader | None = None,
    finalize: Callable[[Any], Any] | None = None,
    trim: bool = False,
) -> Environment:
    """Return an environment with additional filters. `trim`: lines with only a block produce no output line."""
    environment = ImmutableSandboxedEnvironment(
        loader=loader,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=trim,
        lstrip_blocks=trim,
        autoescape=False,
        optimized=False,  # expressions are evaluated while rendering, not while reading
    )
    environment.globals.clear()
    del environment.filters["random"]  # same seed, same text
    environment.filters.update(filters)
    return environment


def check_text(text: str, names: Collection[str], filters: Iterable[str]) -> None:
    """Raise TextError if a text is malformed, or uses an unknown name or filter."""
    environment = make_environment(dict.fromkeys(filters, str))
    try:
        tree = environment.parse(text)
        environment.compile(tree)
    except TemplateSyntaxError as error:
        raise TextError(f"line {error.lineno} of the text: {error.message}", error.lineno) from error
    unknown = meta.find_undeclared_variables(tree) - set(names)
    if unknown:
        line = min(node.lineno for node in tree.find_all(nodes.Name) if node.name in unknown)
        known = ", ".join(sorted(names)) or "none"
        raise TextError(f"there is no {', '.join(sorted(unknown))}; known: {known}", line)


def variables_in(text: str) -> set[str]:
    """Return the names that a text needs."""
    return meta.find_undeclared_variables(_texts().parse(text))


def included_in(text: str) -> set[str]:
    """Return the files that a text includes."""
    return {name for name in meta.find_referenced_templates(_texts().parse(text)) if name is not None}


def render_text(text: str, /, **values: Any) -> str:
    """Render a text of a data file. Raise TextError if that fails."""
    return render_template(compiled(_texts(), text), values)


@lru_cache(maxsize=1024)
def compiled(environment: Environment, text: str) -> Template:
    """Compile a text. Raise TextError if it is malformed."""
    try:
        return environment.from_string(text)
    except TemplateError as error:
        raise _text_error(error) from error


def render_template(template: Template, values: Mapping[str, Any]) -> str:
    """Render a template. Raise TextError, with file and line, for any error in it (1 / 0, "a" + 1)."""
    try:
        return template.render(values)
    except GraphwalkError:
        raise
    except Exception as error:  # a template can raise whatever its expressions and filters raise
        raise _text_error(error, template.filename) from error


def _text_error(error: Exception, file: str | None = None) -> TextError:
    """Return the error with the line of the template `file`, or of the file that it includes, where it was raised."""
    line = None
    # The innermost frame of a template; those behind it are of filters, in Python.
    for frame in extract_tb(error.__traceback__):
        if frame.filename.endswith((".j2", _NO_FILE)):
            file = frame.filename
            line = frame.lineno
    if isinstance(error, TemplateSyntaxError):
        file = error.filename
        line = error.lineno
    if file == _NO_FILE:
        file = None

    problem = str(error)
    if not isinstance(error, TemplateError):
        problem = f"{type(error).__name__}: {problem}"
    return TextError(problem, line or 1, file)


_NO_FILE = "<template>"
"""The file name that Jinja gives to a text."""


def render_page(path: str, /, **values: Any) -> str:
    """Render the page `templates/<path>`. Raise ConfigError if it is missing or malformed, or lacks a value."""
    try:
        return render_template(_pages().get_template(path), values)
    except TextError as error:
        raise ConfigError(f"templates/{path}:{error.line}: {error.problem}") from error
    except TemplateError as error:
        where = f"templates/{path}"
        line = getattr(error, "lineno", None)
        if line:
            where = f"{where}:{line}"
        raise ConfigError(f"{where}: {error.message}") from error


@cache
def _texts() -> Environment:
    return make_environment(TEXT_FILTERS, trim=True)


@cache
def _pages() -> Environment:
    return make_environment(TEXT_FILTERS, loader=FileSystemLoader(data_path("templates")), trim=True)


MESSAGES = "tool_messages.yaml"
"""Messages about failed tool calls, many in one file."""
_MESSAGE_FILES = (MESSAGES, "lever_messages.yaml")
PROMPT_SETS = ("short", "paper")
"""Built-in sets: the files of templates/prompts-NAME/ replace those of templates/prompts/."""


class Prompts:
    """The built-in prompts; files in `folder` replace those of the same name.

    Files are read once, so that all episodes of a run use the same. Raise ConfigError, with file and line, for a file
    with an unknown name, with an error, or with a variable that the built-in file does not have.
    """

    def __init__(self, folder: Path | None = None) -> None:
        shipped_folder = data_path("templates") / "prompts"
        shipped = _texts_in(shipped_folder)
        folder_of = dict.fromkeys(shipped, shipped_folder)
        self.files: Mapping[str, str] = shipped
        """Name → text."""
        self._messages: dict[str, tuple[str, Path]] = {}
        """Name of a message → its text, and the file that has it."""
        for name in _MESSAGE_FILES:
            path = shipped_folder / name
            for message, text in YamlFile.read(path).data.items():
                self._messages[message] = (text, path)

        if folder is not None:
            own = _texts_in(folder)
            folder_of.update(dict.fromkeys(own, folder))
            self.files = {**shipped, **own}
            for name, text in own.items():
                path = folder / name
                if name not in shipped:
                    hint = f"prompts: {', '.join(shipped)}"
                    raise ConfigError(f"{path}: no prompt has this name{did_you_mean(name, shipped)}", hint=hint)
                if name in _MESSAGE_FILES:
                    shipped_messages = YamlFile.read(shipped_folder / name).data
                    for message, own_text in _own_messages(path, shipped_messages).items():
                        self._messages[message] = (own_text, path)
                else:
                    self._check_prompt(path, text, shipped_folder)

        # What Jinja asks a loader for: the text, its file, and nothing that tells whether the file has changed.
        sources = {name: (text, str(folder_of[name] / name), None) for name, text in self.files.items()}
        self._environment = make_environment(TEXT_FILTERS, loader=FunctionLoader(sources.get), trim=True)

    def _check_prompt(self, path: Path, text: str, shipped_folder: Path) -> None:
        """Raise ConfigError for an error in the user's file, or for a variable that the built-in one does not have."""
        try:
            check_text(text, _variables_of(path.name), TEXT_FILTERS)
        except TextError as error:
            hint = f"ours: {shipped_folder / path.name}"
            raise ConfigError(f"{path}:{error.line}: {error.problem}", hint=hint) from error
        missing = included_in(text) - self.files.keys()
        if missing:
            raise ConfigError(f"{path}: there is no {', '.join(sorted(missing))} to include")

    def render(self, name: str, /, **values: Any) -> str:
        """Render one file ("graph_tools.j2"). Raise ConfigError if a variable is missing."""
        try:
            return render_template(self._environment.get_template(name), values)
        except TextError as error:
            raise ConfigError(f"{error.file}:{error.line}: {error.problem}") from error

    def message(self, name: str, /, **values: Any) -> str:
        """Render one of the messages about tool calls, or of the levers."""
        text, path = self._messages[name]
        try:
            return render_text(text, **values)
        except TextError as error:
            raise ConfigError(f"{YamlFile.read(path).where(name)}: {error.problem}") from error


@cache
def shipped_prompts(name: str | None = None) -> Prompts:
    """Return the built-in prompts, with the files of one of `PROMPT_SETS`."""
    return Prompts(None if name is None else data_path("templates") / f"prompts-{name}")


def _texts_in(folder: Path) -> dict[str, str]:
    """Return file name → text, without hidden files. Raise ConfigError for a file that is no text in UTF-8."""
    texts = {}
    for path in sorted(folder.iterdir()):
        # .DS_Store
        if path.name.startswith("."):
            continue
        try:
            texts[path.name] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read: {error}") from error
    return texts


@cache
def _variables_of(name: str) -> frozenset[str]:
    """Return the variables of the built-in prompts of this name, with those of the files that they include."""
    variables: set[str] = set()
    folders = ["prompts"]
    folders.extend(f"prompts-{prompt_set}" for prompt_set in PROMPT_SETS)
    for folder in folders:
        path = data_path("templates") / folder / name
        if not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        variables.update(variables_in(text))
        for included in included_in(text):
            variables.update(_variables_of(included))
    return frozenset(variables)


def _own_messages(path: Path, shipped: Mapping[str, str]) -> dict[str, str]:
    """Return the user's messages in the file `path`, checked against the built-in ones."""
    file = YamlFile.read(path)
    if not isinstance(file.data, dict) or not all(isinstance(text, str) for text in file.data.values()):
        raise ConfigError(f"{path}: not a list of messages, each a name with its text")
    for name, text in file.data.items():
        if name not in shipped:
            raise ConfigError(f"{path}: there is no message {name!r}", hint=f"messages: {', '.join(shipped)}")
        try:
            check_text(text, variables_in(shipped[name]), TEXT_FILTERS)
        except TextError as error:
            raise ConfigError(f"{file.where(name)}: {error.problem}") from error
    return file.data
