"""Prompt templates: the files of templates/prompts/, some of them replaced by files of the user."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import FunctionLoader

from graphwalk.config.jinja import (
    TEXT_FILTERS,
    TextError,
    check_text,
    included_in,
    make_environment,
    names_in,
    render_text,
    rendered,
)
from graphwalk.config.yaml_files import YamlFile
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.files.resources import data_path

MESSAGES = "tool_messages.yaml"
"""Messages about failed tool calls, many in one file."""
_MESSAGE_FILES = (MESSAGES, "lever_messages.yaml")
PROMPT_SETS = ("short", "paper")
"""Built-in sets: the files of templates/prompts-NAME/ replace those of templates/prompts/."""
_NOT_PLAYED = ("conformance.yaml",)
"""Texts of `graphwalk doctor`, which are not part of an experiment."""


class Prompts:
    """The built-in prompts; files in `folder` replace those of the same name.

    Files are read once, so that all episodes of a run use the same. Raise ConfigError, with file and line, for a file
    with an unknown name, with an error, or with a variable that the built-in file does not have.
    """

    def __init__(self, folder: Path | None = None) -> None:
        own = {} if folder is None else _files(folder)
        ours = _defaults()
        self._paths = {**ours, **own}
        self.files: Mapping[str, str] = {name: _read(path) for name, path in self._paths.items()}
        """Name → text."""
        self._messages = {
            name: (text, ours[file]) for file in _MESSAGE_FILES for name, text in _messages(ours[file]).items()
        }
        for name, path in own.items():
            if name not in ours:
                hint = f"prompts: {', '.join(ours)}"
                raise ConfigError(f"{path}: no prompt has this name{did_you_mean(name, ours)}", hint=hint)
            if name in _MESSAGE_FILES:
                self._messages |= {message: (text, path) for message, text in _own_messages(path, ours[name]).items()}
                continue
            try:
                check_text(self.files[name], _names_of(name), TEXT_FILTERS)
            except TextError as error:
                raise ConfigError(f"{path}:{error.line}: {error.problem}", hint=f"ours: {ours[name]}") from error
            if missing := included_in(self.files[name]) - self.files.keys():
                raise ConfigError(f"{path}: there is no {', '.join(sorted(missing))} to include")
        sources = {name: (text, str(self._paths[name]), None) for name, text in self.files.items()}
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


def _defaults() -> dict[str, Path]:
    files = _files(data_path("templates") / "prompts")
    return {name: path for name, path in files.items() if name not in _NOT_PLAYED}


def _files(folder: Path) -> dict[str, Path]:
    """Return name → file, without hidden files."""
    return {path.name: path for path in sorted(folder.iterdir()) if not path.name.startswith(".")}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


@cache
def _names_of(name: str) -> frozenset[str]:
    """Return the variables of the built-in prompts of this name, with those of the files that they include."""
    folders = [_files(data_path("templates") / f"prompts-{chosen}") for chosen in PROMPT_SETS]
    texts = [_read(files[name]) for files in (_defaults(), *folders) if name in files]
    included = {other for text in texts for other in included_in(text)}
    return frozenset(set().union(*map(names_in, texts), *map(_names_of, included)))


def _messages(path: Path) -> dict[str, str]:
    data = YamlFile.read(path).data
    if not isinstance(data, dict) or not all(isinstance(text, str) for text in data.values()):
        raise ConfigError(f"{path}: not a list of messages, each a name with its text")
    return data


def _own_messages(path: Path, ours: Path) -> dict[str, str]:
    """Return the user's messages in the file `path`, checked against the built-in ones."""
    messages, built_in = _messages(path), _messages(ours)
    for name, text in messages.items():
        if name not in built_in:
            raise ConfigError(f"{path}: there is no message {name!r}", hint=f"messages: {', '.join(built_in)}")
        try:
            check_text(text, names_in(built_in[name]), TEXT_FILTERS)
        except TextError as error:
            raise ConfigError(f"{YamlFile.read(path).where(name)}: {error.problem}") from error
    return messages
