"""All datasets that there are: every file of this folder that says ``DATASET = Dataset(...)``, and files of your own.

A section of ``datasets`` that has no such file is a file of your own, with a path. The Snakefile imports this module,
so it does not import numpy, and only jobs read data.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from segshuffle.datasets.interface import Dataset
from segshuffle.discovered import discovered
from segshuffle.errors import ConfigError

_PACKAGE = __name__.rpartition(".")[0]
#: Names of sections: they become parts of file names.
NAME = "^[a-z][a-z0-9-]*$"


@functools.cache
def every(package: str = _PACKAGE) -> dict[str, Dataset]:
    """Find all datasets, by name.

    Raises
    ------
    ConfigError
        If a file cannot be imported, or its dataset has another name than the file; says which.
    """
    datasets: dict[str, Dataset] = {}
    for path, dataset in discovered(package, "DATASET").items():
        if dataset.name != path.stem:
            raise ConfigError(f"{path}: declares the dataset {dataset.name!r}, but its name must be {path.stem!r}.")
        datasets[dataset.name] = dataset
    return datasets


def dataset_of(name: str) -> Dataset:
    """Return the dataset of a section: a declared one, or else a file of your own."""
    return every().get(name) or own_dataset(name)


@functools.cache
def own_dataset(name: str) -> Dataset:
    """Describe a section that is a file of your own; what reads such files is imported only when it is asked for."""
    (own,) = discovered(f"{_PACKAGE}.own", "OWN").values()
    assert isinstance(own, Dataset)
    return replace(own, name=name, label=name, licence=f"{name}: {own.licence}")


def schema() -> dict[str, Any]:
    """Return the JSON schema of the section ``datasets``."""
    return {
        "type": "object",
        "minProperties": 1,
        "properties": {name: _section(dataset) for name, dataset in every().items()},
        "propertyNames": {"pattern": NAME},
        "additionalProperties": _section(own_dataset("")),
    }


def _section(dataset: Dataset) -> dict[str, Any]:
    """Return the JSON schema of the section of a dataset; what all datasets have in common is in the schema file."""
    keys: dict[str, Mapping[str, Any]] = {
        "n_users": {"$ref": "#/$defs/user_counts", "items": {"maximum": dataset.most_users}},
        "set_sizes": {"$ref": "#/$defs/set_sizes"},
        **dataset.keys,
    }
    required = [key for key, rules in keys.items() if "default" not in rules]
    properties = {**keys, "blanket_grid": {"$ref": "#/properties/blanket_grid"}}
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


def complete(sections: dict[str, dict[str, Any]]) -> None:
    """Fill in the defaults of keys that were left out."""
    for name, section in sections.items():
        for key, rules in dataset_of(name).keys.items():
            if "default" in rules:
                section.setdefault(key, rules["default"])


def given_path(name: str, section: Mapping[str, Any], environ: Mapping[str, str]) -> Path | None:
    """Return the path of the user's own copy: environment variable, else the key ``path``, else None.

    Raises
    ------
    ConfigError
        If there is no such file: a path that was given is never passed over.
    """
    dataset = dataset_of(name)
    origin, value = f"environment variable {dataset.given}", environ.get(dataset.given)
    if not value:
        origin, value = f"datasets.{name}.path", section.get("path")
    if not value:
        return None
    path = Path(value).expanduser()
    if not path.is_file():
        raise ConfigError(
            f"{origin} = {value!r} is not allowed: there is no such file. Give the path of "
            f"{dataset.given_is}{', or leave it empty' if name in every() else ''}."
        )
    return path


def hashed_as(name: str) -> str:
    """Say what is hashed: a file of your own as it is, all other files after unpacking."""
    return "uncompressed " if name in every() else ""


def dataset_label(name: str, kind: str) -> str:
    """Return the name of a dataset in figures and tables; the name of a stand-in says so."""
    return dataset_of(name).label + (" (stand-in)" if kind == "stand-in" else "")
