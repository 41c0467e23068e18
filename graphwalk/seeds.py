"""Random generators that depend on their seed only, on every machine."""

import hashlib
import random

import numpy as np


def seed_for(seed: int, purpose: str, *index: int | str) -> int:
    """Return a 128-bit seed from SHA-256 of (seed, purpose, index)."""
    parts = [str(seed), purpose]
    parts.extend(str(part) for part in index)
    text = "\x1f".join(parts)  # "0␟graph␟3"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generator(seed: int, purpose: str, *index: int | str) -> np.random.Generator:
    """Return a numpy generator (PCG64) for one purpose; purposes are independent."""
    return np.random.Generator(np.random.PCG64(seed_for(seed, purpose, *index)))


def stdlib_random(seed: int, purpose: str, *index: int | str) -> random.Random:
    """Return a `random.Random` for one purpose; faster than numpy for single values."""
    return random.Random(seed_for(seed, purpose, *index))
