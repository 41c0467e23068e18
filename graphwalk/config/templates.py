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
    """Join values as text."""
    return separator.join(map(str, values))


def with_article(noun: str) -> str:
    """Return the noun behind "a" or "an"; accents make no difference."""
    letters = "".join(letter for letter in normalize("NFKD", noun) if not combining(letter))
    return f"{'an' if _VOWEL_SOUND.match(letters) else 'a'} {noun}"


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
    if unknown := meta.find_undeclared_variables(tree) - set(names):
        line = min(node.lineno for node in tree.find_all(nodes.Name) if node.name in unknown)
        raise TextError(f"there is no {', '.join(sorted(unknown))}; known: {', '.join(sorted(names)) or 'none'}", line)


def names_in(text: str) -> set[str]:
    """Return the names that a text needs."""
    return meta.find_undeclared_variables(_texts().parse(text))


def included_in(text: str) -> set[str]:
    """Return the files that a text includes."""
    return {name for name in meta.find_referenced_templates(_texts().parse(text)) if name is not None}


def render_text(text: str, /, **values: Any) -> str:
    """Render a text of a data file. Raise TextError if that fails."""
    return rendered(compiled(_texts(), text), values)


@lru_cache(maxsize=1024)
def compiled(environment: Environment, text: str) -> Template:
    """Compile a text. Raise TextError if it is malformed."""
    try:
        return environment.from_string(text)
    except TemplateError as error:
        raise _text_error(error) from error


def rendered(template: Template, values: Mapping[str, Any]) -> str:
    """Render a template. Raise TextError, with file and line, for any error in it (1 / 0, "a" + 1)."""
    try:
        return template.render(values)
    except GraphwalkError:
        raise
    except Exception as error:  # a template can raise whatever its expressions and filters raise
        raise _text_error(error, template.filename) from error


def _text_error(error: Exception, file: str | None = None) -> TextError:
    """Return the error with the line of the template `file`, or of the file that it includes, where it was raised."""
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename.endswith((".j2", "<template>"))]
    file, line = (frames[-1].filename, frames[-1].lineno) if frames else (file, None)
    if isinstance(error, TemplateSyntaxError):
        file, line = error.filename, error.lineno
    problem = str(error) if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
    return TextError(problem, line or 1, None if file == "<template>" else file)


def render_page(path: str, /, **values: Any) -> str:
    """Render the page `templates/<path>`. Raise ConfigError if it is missing or malformed, or lacks a value."""
    try:
        return rendered(_pages().get_template(path), values)
    except TextError as error:
        raise ConfigError(f"templates/{path}:{error.line}: {error.problem}") from error
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise ConfigError(f"templates/{path}{f':{line}' if line else ''}: {error.message}") from error


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
        shipped, own = _texts_in(shipped_folder), {} if folder is None else _texts_in(folder)
        self.files: Mapping[str, str] = {**shipped, **own}
        """Name → text."""
        self._messages = {
            message: (text, shipped_folder / name)
            for name in _MESSAGE_FILES
            for message, text in YamlFile.read(shipped_folder / name).data.items()
        }
        for name, text in own.items():
            assert folder is not None
            path = folder / name
            if name not in shipped:
                hint = f"prompts: {', '.join(shipped)}"
                raise ConfigError(f"{path}: no prompt has this name{did_you_mean(name, shipped)}", hint=hint)
            if name in _MESSAGE_FILES:
                messages = _own_messages(path, YamlFile.read(shipped_folder / name).data)
                self._messages |= {message: (text, path) for message, text in messages.items()}
                continue
            try:
                check_text(text, _names_of(name), TEXT_FILTERS)
            except TextError as error:
                raise ConfigError(
                    f"{path}:{error.line}: {error.problem}", hint=f"ours: {shipped_folder / name}"
                ) from error
            if missing := included_in(text) - self.files.keys():
                raise ConfigError(f"{path}: there is no {', '.join(sorted(missing))} to include")
        sources = {
            name: (text, str((folder if folder and name in own else shipped_folder) / name), None)
            for name, text in self.files.items()
        }
        self._settings = make_environment(TEXT_FILTERS, loader=FunctionLoader(sources.get), trim=True)

    def render(self, name: str, /, **values: Any) -> str:
        """Render one file ("graph_tools.j2"). Raise ConfigError if a variable is missing."""
        try:
            return rendered(self._settings.get_template(name), values)
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
        if not path.name.startswith("."):
            try:
                texts[path.name] = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"{path}: cannot be read: {error}") from error
    return texts


@cache
def _names_of(name: str) -> frozenset[str]:
    """Return the variables of the built-in prompts of this name, with those of the files that they include."""
    folders = [data_path("templates") / folder for folder in ("prompts", *(f"prompts-{one}" for one in PROMPT_SETS))]
    texts = [(folder / name).read_text(encoding="utf-8") for folder in folders if (folder / name).exists()]
    included = {other for text in texts for other in included_in(text)}
    return frozenset(set().union(*map(names_in, texts), *map(_names_of, included)))


def _own_messages(path: Path, shipped: Mapping[str, str]) -> dict[str, str]:
    """Return the user's messages in the file `path`, checked against the built-in ones."""
    file = YamlFile.read(path)
    if not isinstance(file.data, dict) or not all(isinstance(text, str) for text in file.data.values()):
        raise ConfigError(f"{path}: not a list of messages, each a name with its text")
    for name, text in file.data.items():
        if name not in shipped:
            raise ConfigError(f"{path}: there is no message {name!r}", hint=f"messages: {', '.join(shipped)}")
        try:
            check_text(text, names_in(shipped[name]), TEXT_FILTERS)
        except TextError as error:
            raise ConfigError(f"{file.where(name)}: {error.problem}") from error
    return file.data
