"""What a run writes, declared once per study in its ``outputs.py``: targets, results, page figures, copies in docs/.

A study is found by being there: a folder of studies/ with an ``outputs.py`` that has ``targets``, and optionally
``DOCS``. Imported by the Snakefile, which every remote job parses again: standard library only.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from segshuffle.errors import ConfigError
from segshuffle.pipeline.design import Config, Scenario

FOLDER = Path(__file__).parents[1] / "studies"
PACKAGE = "segshuffle.studies"
FORMATS = ("pdf", "svg", "png")


@dataclass(frozen=True)
class Target:
    """Something that a user asks Snakemake for by name.

    Parameters
    ----------
    name : str
        Name of the target.
    what : str
        What it makes, as ``snakemake --list`` says it.
    outputs : tuple of str
        Files below the results folder; "figures/x" stands for its PDF, SVG and PNG.
    in_all : bool
        Whether the default target makes it too.
    """

    name: str
    what: str
    outputs: tuple[str, ...]
    in_all: bool = True

    @property
    def files(self) -> tuple[str, ...]:
        """Every file, below the results folder."""
        return tuple(file for output in self.outputs for file in _files(output))


def names(folder: Path = FOLDER) -> list[str]:
    """Folders of all studies, sorted; each has a rules file of the same name."""
    return sorted(path.parent.name for path in folder.glob("*/outputs.py"))


def studies(folder: Path = FOLDER, package: str = PACKAGE) -> Iterator[ModuleType]:
    """The declaration of every study, in the order of `names`."""
    for name in names(folder):
        yield importlib.import_module(f"{package}.{name}.outputs")


def targets(config: Config, panels: Sequence[Scenario], declared: Sequence[ModuleType] | None = None) -> list[Target]:
    """Targets of all studies for one configuration.

    Raises
    ------
    ConfigError
        If two studies declare the same name; says which.
    """
    found: dict[str, tuple[Target, str]] = {}
    for study in studies() if declared is None else declared:
        for target in study.targets(config, panels):
            if target.name in found:
                raise ConfigError(
                    f"{study.__name__}: declares the target {target.name!r}, as {found[target.name][1]} does; "
                    "give it a name of its own."
                )
            found[target.name] = target, study.__name__
    return [target for target, _ in found.values()]


def results(found: Sequence[Target]) -> list[str]:
    """Every file that the default target makes, below the results folder, each once."""
    return list(dict.fromkeys(file for target in found if target.in_all for file in target.files))


def copies(declared: Sequence[ModuleType] | None = None) -> dict[str, str]:
    """File of a full run, below the results folder -> its copy below docs/."""
    found: dict[str, str] = {}
    for study in studies() if declared is None else declared:
        for output, name in getattr(study, "DOCS", {}).items():
            if name in found.values():
                raise ConfigError(f"{study.__name__}: docs/{name} is the copy of another file already")
            found[output] = name
    return found


def _files(output: str) -> list[str]:
    return [f"{output}.{suffix}" for suffix in FORMATS] if output.startswith("figures/") else [output]
