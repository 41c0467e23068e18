"""What every part of a configuration is: fixed, and without fields that nobody knows."""

from pydantic import BaseModel, ConfigDict, PositiveInt


class Strict(BaseModel):
    """A part of a configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Spec(Strict):
    """Something that can be generated."""

    count: PositiveInt = 1
    """How many of this kind."""


class SuiteConfig(Strict):
    """The `suite` of an experiment; every suite has a class of its own with this one as its base."""

    name: str
