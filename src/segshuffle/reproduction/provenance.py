"""What lies beside the results: a list of them, and a record of code, settings and data, with hashes of the results.

No time is recorded, so that the same run gives the same file.
"""

import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from segshuffle.datasets.registry import dataset_label, hashed_as
from segshuffle.files import sha256_of
from segshuffle.reproduction import captions
from segshuffle.reproduction.design import Config, output_folder, without_paths
from segshuffle.reproduction.tables import read_json

#: What is written about a run.
RECORDS = ("index.html", "config.yaml", "provenance.json", "runtimes.csv")
PACKAGES = ("segshuffle", "snakemake", "numpy", "scipy", "pandas", "matplotlib", "joblib")


def data_of(sources: Iterable[str]) -> dict[str, Any]:
    """Map every dataset to the source of its data, as its JSON file holds it."""
    return {Path(path).parent.name: read_json(path) for path in sources}


def data_sentences(data: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Say of every dataset whether its data are real, by the sources of `data_of`."""
    for name, source in data.items():
        label = dataset_label(name, "real")
        if source["kind"] == "real":
            yield f"{label}: the real data (SHA-256 of the {hashed_as(name)}file {source['sha256']})."
        else:
            yield f"{label}: a STAND-IN, not the real data, because {source['reason'].splitlines()[0]}"


def effective(config: Config) -> str:
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
        "outputs": {Path(path).relative_to(root).as_posix(): sha256_of(path) for path in sorted(outputs)},
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def contents(outputs: Sequence[str], sources: Sequence[str], *, config: Config) -> str:
    """Return the Markdown text of `CONTENTS.md` beside the results.

    Parameters
    ----------
    outputs, sources : sequence of str
        As in `provenance`.
    config : dict
        The configuration.
    """
    parts = ["# Results", *data_sentences(data_of(sources))]
    parts += [f"{config['repetitions']} repetitions, seed {config['seed']}.", "## Files"]
    parts.append(f"figures/NAME stands for NAME{', NAME'.join(captions.FORMATS)}.")
    below = [Path(path).relative_to(output_folder(config)).as_posix() for path in outputs]
    sections: dict[captions.Group, dict[str, list[str]]] = {}
    for output in captions.Captions(config).every([*RECORDS, *below]):
        sections.setdefault(output.group, {}).setdefault(output.title, []).append(output.path)
    for group in sorted(sections, key=lambda group: group.rank):
        titles = {"`, `".join(paths): title for title, paths in sections[group].items()}
        parts += [f"### {group.title}", _listed(titles)]
    said = captions.entries()
    parts += ["### Intermediate files", _listed(said["parts"])]
    for table, columns in said["columns"].items():
        parts += [f"## Columns of {table}", _listed(columns)]
    return "\n\n".join(parts) + "\n"


def _listed(meanings: Mapping[str, str]) -> str:
    """Write names and what they mean as a list in Markdown."""
    return "\n".join(f"- `{name}`: {meaning}" for name, meaning in meanings.items())
