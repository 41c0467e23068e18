"""From flags to what MAGMA generates; shared by `generate magma` and `export magma`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphwalk.config.specs import MagmaSpec

_DEFAULT_NODES = (5,)


def magma_specs(
    algorithms: Sequence[str] | None, nodes: Sequence[int] | None, count: int | None, p: float, splits: Sequence[str]
) -> "list[MagmaSpec]":
    """Every combination, split by split. ConfigError for a value that does not exist."""
    from graphwalk.config.experiment import MagmaConfig
    from graphwalk.config.loading import validate
    from graphwalk.generators.magma_traces import ALGORITHMS

    grids = [
        {"algorithm": list(algorithms or ALGORITHMS), "nodes": list(nodes or _DEFAULT_NODES), "p": p, "split": split}
        | ({} if count is None else {"count": count})
        for split in splits
    ]
    return list(validate(MagmaConfig, {"traces": grids}, "magma").specs())
