"""Titles, captions and headings of everything that a run makes: the ``captions.yaml`` beside each study.

Such a file has ``groups`` (headings of the page), ``outputs`` (files, with title, caption and group), ``parts``
(folders of intermediate files) and ``columns`` (tables, and the meaning of their columns); all are optional. A path is
below the results folder, and "figures/x" stands for the three files of a figure. Braces in a path are wildcards; titles
and captions may use them, and the values of `Captions.values`. The Snakefile imports this module, so it does not import
numpy.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml

from segshuffle.datasets.registry import dataset_label
from segshuffle.errors import ConfigError
from segshuffle.reproduction.design import FIGURES, Config, figures_of, least_delta, level_deltas
from segshuffle.reproduction.scenarios import scenarios

#: Of every figure.
FORMATS = (".pdf", ".svg", ".png")
# ten times as fast, where PyYAML has it
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# what all studies share comes first
_FILES = sorted(Path(__file__).parent.rglob("captions.yaml"), key=lambda path: (len(path.parts), path))


class Group(NamedTuple):
    """A heading of the page; its short form is the category of Snakemake's report. Lower ranks come first."""

    id: str
    short: str
    title: str
    introduction: str = ""
    rank: int = 100


class Output(NamedTuple):
    """A file of a run, or a figure in its three formats.

    Parameters
    ----------
    path : str
        File below the results folder; "figures/x" stands for its PDF, SVG and PNG.
    title : str
        What the file is, in a few words without a full stop.
    caption : str
        How to read it, and the kind of its numbers.
    group : Group
        Where it is shown.
    """

    path: str
    title: str
    caption: str
    group: Group

    @property
    def name(self) -> str:
        """Path of a file, or name of a figure."""
        return self.path.removeprefix("figures/")


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Put together the files of all studies: section (groups, outputs, parts or columns) -> its entries."""
    sections: dict[str, dict[str, Any]] = {"groups": {}, "outputs": {}, "parts": {}, "columns": {}}
    for path in _FILES:
        for section, values in yaml.load(path.read_bytes(), _LOADER).items():
            sections[section] |= values
    return sections


def _entry_of(path: str) -> tuple[dict[str, str], dict[str, int | str]]:
    """Return the entry of the first output that a path matches, and the values of its wildcards."""
    for output, entry in entries()["outputs"].items():
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+?)", re.escape(output))
        if match := re.fullmatch(pattern, path):
            return entry, {key: int(value) if value.isdecimal() else value for key, value in match.groupdict().items()}
    raise ConfigError(f"{path}: no captions.yaml says what this is. Add it to that of its study, under outputs.")


def exhibits() -> list[str]:
    """List the figures and tables of the amplification papers, such as decomposition2 and variation-table5."""
    tables = [path.removeprefix("amplification/") for path in entries()["outputs"] if path.startswith("amplification/")]
    return [name.removesuffix(".csv") for name in tables if name.endswith(".csv") and name != "claims.csv"]


def titles(prefix: str) -> dict[str, str]:
    """Return the titles of the groups whose id begins with a prefix, by the rest of the id."""
    groups = entries()["groups"].items()
    return {name.removeprefix(prefix): group["title"] for name, group in groups if name.startswith(prefix)}


class Captions:
    """What is said of the files of one configuration's run."""

    def __init__(self, config: Config) -> None:
        drawn = figures_of(scenarios(config))
        honest = config["proven"]["honest_fraction"]
        self._shown = {}
        for name, panels in drawn.items():
            datasets = dict.fromkeys(dataset_label(panel.setting.dataset, "real") for panel in panels)
            splits = dict.fromkeys(panel.split for panel in panels)
            self._shown[name] = f"{' and '.join(datasets)}, split {' and '.join(splits)}"
        #: What titles and captions may use, beside the wildcards of their paths.
        self.values = {
            "levels": ", ".join(map(str, config["levels"])),
            "delta": str(least_delta(config, 1)),
            # the delta of every level if plans use it, else the least one
            "proven_delta": ", ".join(map(str, level_deltas(config, 1) or [least_delta(config, 1)])),
            "honest": f" The proven guarantees rely on {honest:.0%} of the users, the published ones on all."
            if honest < 1
            else "",
            "group_of_panels": "figures" if set(drawn) & set(FIGURES) else "own",
        }

    def of(self, path: str) -> Output:
        """Return what is said of a file below the results folder, or of a figure ("figures/x" or one of its files).

        Raises
        ------
        ConfigError
            If no ``captions.yaml`` names it.
        """
        if path.startswith("figures/"):
            path = path.removesuffix(PurePosixPath(path).suffix)
        entry, wildcards = _entry_of(path)
        shown = self._shown.get(path.removeprefix("figures/").removesuffix("-proven"), "")
        values: dict[str, Any] = {**self.values, **wildcards, "shown": shown}
        # captions last: they may use the other entries
        for key in sorted(entry, key=lambda key: key == "caption"):
            values[key] = entry[key].format(**values).strip()
        group = Group(values["group"], **entries()["groups"][values["group"]])
        return Output(path, values["title"], values.get("caption", ""), group)

    def every(self, paths: Iterable[str]) -> list[Output]:
        """Return what is said of several files, each figure once, in their order."""
        return list({output.path: output for output in map(self.of, paths)}.values())
