"""What a run was made of: versions, commit, seed, data, and the hashes of figures, tables and verdicts.

No time is recorded, so that the same run gives the same file.
"""

import json
import platform
import subprocess
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from segshuffle.datasets.registry import dataset_of
from segshuffle.errors import DataError
from segshuffle.files import sha256_of
from segshuffle.pipeline.design import Config, output_folder, without_paths

PACKAGES = ("segshuffle", "snakemake", "numpy", "scipy", "pandas", "matplotlib", "joblib")


def commit_of(root: Path) -> str:
    """Return the commit of the code in `root`, with -dirty if files differ; "unknown" outside a checkout of its own."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        # a copy inside another repository would be given that one's commit
        if git("rev-parse", "--show-prefix"):
            return "unknown"
        return git("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def data_of(sources: Iterable[str]) -> dict[str, Any]:
    """Map every dataset to the source of its data, as its JSON file holds it."""
    return {Path(path).parent.name: json.loads(Path(path).read_text(encoding="utf-8")) for path in sources}


def only_real(sources: Sequence[str]) -> str:
    """Refuse stand-ins before figures are drawn that must show real data; else return a sentence that all are real.

    Parameters
    ----------
    sources : sequence of str
        Paths of the records of all data.

    Raises
    ------
    DataError
        If the data of a dataset are a stand-in; says why, and what to do.
    """
    for name, source in data_of(sources).items():
        if source["kind"] != "real":
            dataset = dataset_of(name)
            raise DataError(
                f"{dataset.label}: the figures in docs/ must show the real data, but these are a stand-in, because "
                f"{source['reason']}\nSet the environment variable {dataset.given} to the path of "
                f"{dataset.given_is}, or connect to the network, then run `snakemake docs_figures` again."
            )
    return "All data are real.\n"


def effective(*, config: Config) -> str:
    """Return the YAML text of the configuration without the place of data on this machine."""
    return yaml.safe_dump(without_paths(config), sort_keys=False)


def provenance(outputs: Sequence[str], sources: Sequence[str], *, config: Config, commit: str) -> str:
    """Return the JSON text of a run's provenance, newline at the end.

    Parameters
    ----------
    outputs : sequence of str
        Paths of the files to hash.
    sources : sequence of str
        Paths of the records of all data, ``data/NAME/source.json``.
    config : dict
        The configuration.
    commit : str
        As `commit_of` returns it.
    """
    versions = {package: metadata.version(package) for package in PACKAGES}
    root = output_folder(config)
    record = {
        "commit": commit,
        "edition": config["edition"],
        "seed": config["seed"],
        "versions": {"python": platform.python_version(), **versions},
        "data": data_of(sources),
        "outputs": {Path(path).relative_to(root).as_posix(): sha256_of(Path(path)) for path in sorted(outputs)},
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
