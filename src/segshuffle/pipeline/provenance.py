"""What a run was made of: versions, commit, seed, data, and the hashes of figures, tables and verdicts.

No time is recorded, so that the same run gives the same file.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("segshuffle", "snakemake", "numpy", "scipy", "pandas", "matplotlib", "joblib")


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def provenance(
    *, outputs: Iterable[Path], root: Path, config: Mapping[str, Any], data: Mapping[str, Any], commit: str
) -> str:
    """JSON text of a run's provenance, newline at the end.

    Parameters
    ----------
    outputs : iterable of Path
        Files to hash; listed relative to `root`.
    data : mapping
        Dataset -> source of its data, as its JSON file holds it.
    commit : str
        Commit of the code; "-dirty" behind it if tracked files differ.
    """
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    record = {
        "commit": commit,
        "edition": config["edition"],
        "seed": config["seed"],
        "versions": versions,
        "data": dict(data),
        "outputs": {path.relative_to(root).as_posix(): sha256_of(path) for path in sorted(outputs)},
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
