"""What part of a run a folder holds: all of it, or a shard."""

from collections.abc import Mapping
from typing import Any


def own_episodes(manifest: Mapping[str, Any]) -> int | None:
    """Episodes of programs that the folder is finished with; None where its plan is not whole.

    A shard that an earlier version made does not say how many are its own, and counts as a part of them all.
    """
    planned: int | None = (manifest.get("fingerprint") or {}).get("episodes")
    own: int | None = manifest.get("shard_episodes", planned)
    return None if planned is None else own


def shard_in_words(manifest: Mapping[str, Any]) -> str | None:
    """ "shard 2 of 4"; None for a whole run."""
    shard = manifest.get("shard")
    return None if shard is None else f"shard {' of '.join(str(shard).split('/'))}"
