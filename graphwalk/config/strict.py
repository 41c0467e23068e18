"""What every part of a configuration is: fixed, and without fields that nobody knows."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

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


def _absolute(text: str, info: ValidationInfo) -> str:
    """A path made absolute; relative ones begin in the folder of the file that names them (see `validate`)."""
    if not is_path(text):
        return text
    folder = (info.context or {}).get("folder")
    path = (Path(folder or ".") / Path(text).expanduser()).resolve()
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}")
    return str(path)


def is_path(text: str) -> bool:
    """True for what a user writes for a file of their own, and not for the name of something that ships."""
    return "/" in text or text.endswith((".yaml", ".yml"))


NameOrPath = Annotated[str, AfterValidator(_absolute)]
"""Something that ships, by its name, or a file of the user's, by its path: `node_count`, `./my_question.yaml`."""
