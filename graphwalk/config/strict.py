"""Base classes of configurations: immutable, without unknown fields."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

from graphwalk.sanitise import secret_fields

MOST = 100_000
"""Most graphs of a kind, tasks about a graph, and episodes of a task: more would fill the memory."""


class Strict(BaseModel):
    """A part of a configuration. Defaults are validated: 3600 and 3600.0 would give two fingerprints."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, use_attribute_docstrings=True
    )


class Spec(Strict):
    """Something that can be generated."""

    count: int = Field(default=1, ge=1, le=MOST)
    """Number of this kind."""


class SuiteConfig(Strict):
    """The `suite` of an experiment; base class of the configuration of each suite."""

    rewording: ClassVar[tuple[str, ...]] = ()
    """Fields that change only the words of the questions; an experiment may vary them."""
    graphs_field: ClassVar[str] = "graphs"
    """Field that lists the graphs to generate; its entries have a `count`."""
    name: str

    @property
    def foreign(self) -> bool:
        """True if the graphs are not generated; they may be large and have long values."""
        return False

    @property
    def graph_count(self) -> int:
        """The number of graphs, mazes or traces."""
        return sum(getattr(entry, "count", 1) for entry in getattr(self, self.graphs_field))

    def texts(self) -> Mapping[str, str]:
        """Return the additional texts that models read: file name in the run folder → text."""
        return {}


class TypedText(str):
    """A text from the command line or a Python call; a path in it is relative to the working directory."""

    __slots__ = ()


def as_typed(value: Any) -> Any:
    """Return the value with each text in it as a `TypedText`."""
    if isinstance(value, dict):
        return {name: as_typed(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_typed(one) for one in value]
    return TypedText(value) if isinstance(value, str) else value


def absolute(text: str | Path, info: ValidationInfo) -> Path:
    """Return an absolute path; a relative one is relative to the folder of the file that names it (`validate`)."""
    folder = None if isinstance(text, TypedText) else (info.context or {}).get("folder")
    return (Path(folder or ".") / Path(text).expanduser()).resolve()


def existing_file(path: Any, info: ValidationInfo) -> Any:
    """Return a path as an absolute one. Raise ValueError if there is no such file or folder."""
    if not isinstance(path, str | Path):
        return path
    whole = absolute(path, info)
    if not whole.exists():
        raise ValueError(f"there is no file or folder {whole}")
    return whole


ExistingFile = Annotated[Path, BeforeValidator(existing_file)]
"""The path of an existing file or folder."""


def _existing_path(text: Any, info: ValidationInfo) -> Any:
    return str(existing_file(text, info)) if isinstance(text, str) and is_path(text) else text


def _without_secrets(settings: dict[str, Any]) -> dict[str, Any]:
    for place in secret_fields(settings):
        raise ValueError(f"{place} is named like a secret, and is logged; set it in the environment (docs/models.md)")
    return settings


LoggedSettings = Annotated[dict[str, Any], AfterValidator(_without_secrets)]
"""Settings of a provider or a library, by its names; a text named like a secret is refused at any depth."""


def is_path(text: str) -> bool:
    """Return True for a path of a file, False for the name of something built in."""
    return "/" in text or text.endswith((".yaml", ".yml"))


NameOrPath = Annotated[str, BeforeValidator(_existing_path)]
"""The name of something built in, or the path of a file: `node_count`, `./my_question.yaml`."""
