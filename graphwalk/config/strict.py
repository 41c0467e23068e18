"""What every part of a configuration is: fixed, and without fields that nobody knows."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

from graphwalk.sanitise import credentials_in

MOST = 100_000
"""Graphs of a kind, tasks about one, episodes with one: more would fill the memory before the first call."""


class Strict(BaseModel):
    """A part of a configuration. Defaults are validated too: 3600 and 3600.0 would be written in two ways, and be two
    conditions."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, use_attribute_docstrings=True
    )


class Spec(Strict):
    """Something that can be generated."""

    count: int = Field(default=1, ge=1, le=MOST)
    """How many of this kind."""


class SuiteConfig(Strict):
    """The `suite` of an experiment; every suite has a class of its own with this one as its base."""

    name: str

    @property
    def foreign(self) -> bool:
        """True where agents walk graphs that somebody else made, which may be large and have long values."""
        return False


class GivenText(str):
    """A text from the command line or from a Python call: a path in it is relative to the working directory."""

    __slots__ = ()


def given(value: Any) -> Any:
    """Return the value with every text in it as a `GivenText`."""
    if isinstance(value, dict):
        return {name: given(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [given(one) for one in value]
    return GivenText(value) if isinstance(value, str) else value


def absolute(text: str | Path, info: ValidationInfo) -> Path:
    """Return an absolute path. A relative one begins in the folder of the file that names it (see `validate`)."""
    folder = None if isinstance(text, GivenText) else (info.context or {}).get("folder")
    return (Path(folder or ".") / Path(text).expanduser()).resolve()


def _found(text: Any, info: ValidationInfo) -> Any:
    if not isinstance(text, str) or not is_path(text):
        return text
    path = absolute(text, info)
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}")
    return str(path)


def _without_credentials(settings: dict[str, Any]) -> dict[str, Any]:
    for place, _ in credentials_in(settings):
        raise ValueError(f"{place} is logged, and must hold no key; set it in the environment")
    return settings


LoggedSettings = Annotated[dict[str, Any], AfterValidator(_without_credentials)]
"""Settings of a provider or a library, under its names; credentials at any depth are refused."""


def is_path(text: str) -> bool:
    """True for what a user writes for a file of their own, and not for the name of something that ships."""
    return "/" in text or text.endswith((".yaml", ".yml"))


NameOrPath = Annotated[str, BeforeValidator(_found)]
"""Something that ships, by its name, or a file of the user's, by its path: `node_count`, `./my_question.yaml`."""
