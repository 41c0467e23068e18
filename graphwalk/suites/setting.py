"""The setting of an episode, with the variant of the run that it is played in."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Setting:
    """The means of a model (`tools`, `no_tools`), with the values of the fields that the run varies.

    In files, tables and on the command line it is a text: `tools`, or `tools:turn_limit=5` with a variant.
    """

    name: str
    variant: str = ""
    """`turn_limit=5`; empty in a run without variants."""

    @classmethod
    def parse(cls, text: str) -> "Setting":
        name, _, variant = text.partition(":")
        return cls(name, variant)

    def __str__(self) -> str:
        return f"{self.name}:{self.variant}" if self.variant else self.name
