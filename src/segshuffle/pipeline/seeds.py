"""Random streams by role: a result depends neither on cores, nor on order, nor on which other methods run."""

import hashlib
import json

import numpy as np


def stream(seed: int, *role: str | int | float) -> np.random.Generator:
    """Return an independent generator for a role.

    Parameters
    ----------
    seed : int
        The configuration's seed.
    *role : str, int or float
        What the stream is for, e.g. ``("levels", "msnbc-n5000-s4-S1")``. Equal roles give equal streams.
    """
    text = json.dumps([seed, *role])
    entropy = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))
