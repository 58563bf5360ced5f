"""Random streams by role: no result depends on the number of cores, the order of jobs, or the other methods."""

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
