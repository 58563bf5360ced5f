"""What a run writes, declared once per study in its ``outputs.py``, and all that is said of it.

The menu, the default target, the page, Snakemake's report, results/README.md and the copies in docs/ are derived from
it. A study is found by being there: a folder of studies/ with an ``outputs.py`` that has ``targets``, and optionally
``DOCS`` (copies) and ``PARTS`` (folders of what is made on the way). ``words.py`` beside it says in words what its
figures show. Imported by the Snakefile, which every remote job parses again: standard library only.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from segshuffle.errors import ConfigError
from segshuffle.pipeline.design import Config, Scenario

FOLDER = Path(__file__).parents[1] / "studies"
PACKAGE = "segshuffle.studies"
FORMATS = ("pdf", "svg", "png")

Words = Callable[[str, Mapping[str, Any]], str | None]


@dataclass(frozen=True)
class Group:
    """A heading of the page; its short form is the category of Snakemake's report.

    Parameters
    ----------
    id : str
        Its address on the page.
    short, title, introduction : str
        In the contents, as heading, and below it.
    rank : int
        Lower ranks come first on the page.
    """

    id: str
    short: str
    title: str
    introduction: str
    rank: int = 100


FURTHER = Group("further", "Further", "Further studies", "Studies that were added to this project.", 1000)
#: Categories of the report that hold no figure, so that the page has no such heading.
OVERVIEW = Group("overview", "Overview", "Overview", "", -1)
VERDICTS = Group("verdicts", "Verdicts", "Verdicts", "", 0)
RUN = Group("run", "The run", "The run", "", 2000)


@dataclass(frozen=True)
class Output:
    """A file of a run, or a figure in its three formats, and what is said of it wherever it is shown.

    Parameters
    ----------
    path : str
        File below the results folder; "figures/x" stands for its PDF, SVG and PNG.
    title : str
        What it is, in a few words without a full stop.
    caption : str, optional
        How to read it, and the kind of its numbers.
    group : Group, optional
        Where it is shown.
    details : tuple of str, optional
        Settings behind it, one a line; for readers of the report, who do not have the page around it.
    on_page : bool, optional
        Whether the page reads it: a table that its words, tables or charts are made of. Figures are on it anyway.
    """

    path: str
    title: str
    caption: str = ""
    group: Group = FURTHER
    details: tuple[str, ...] = ()
    on_page: bool = False

    @property
    def name(self) -> str:
        """Path of a file, or name of a figure."""
        return self.path.removeprefix("figures/")

    @property
    def is_figure(self) -> bool:
        """Whether it stands for a figure in all formats."""
        return self.path.startswith("figures/")

    @property
    def shown(self) -> str:
        """The file that is shown to readers: a figure's SVG."""
        return f"{self.path}.svg" if self.is_figure else self.path

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that it stands for."""
        return tuple(f"{self.path}.{suffix}" for suffix in FORMATS) if self.is_figure else (self.path,)


#: What the rules of report.smk write about a run.
RECORDS = (
    Output(
        "index.html",
        "everything on one page: story, verdicts, figures, interactive charts; opens without a network",
        "Every privacy number on it says of which kind it is.",
        OVERVIEW,
    ),
    Output("config.yaml", "the configuration in effect", group=RUN),
    Output(
        "provenance.json",
        "versions, commit, seed, data source, and the SHA-256 of the figures, tables and verdicts",
        "Files between (plans, populations, errors, parts of tables) have no hash. No time is recorded: the same "
        "configuration, code, package versions and data give the same file.",
        RUN,
    ),
    Output(
        "runtimes.csv",
        "seconds and memory per rule",
        "Measured by Snakemake's benchmarks on the machine of the run. The page shows this table to read.",
        RUN,
        on_page=True,
    ),
)


@dataclass(frozen=True)
class Target:
    """Something that a user asks Snakemake for by name.

    Parameters
    ----------
    name : str
        Name of the target.
    what : str
        What it makes, as ``snakemake --list`` says it.
    outputs : tuple of Output
        What it makes.
    in_all : bool
        Whether the default target makes it too.
    """

    name: str
    what: str
    outputs: tuple[Output, ...]
    in_all: bool = True

    @property
    def files(self) -> tuple[str, ...]:
        """Every file, below the results folder."""
        return tuple(file for output in self.outputs for file in output.files)


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


def on_page(found: Sequence[Target]) -> list[str]:
    """Every table that the page reads, below the results folder, of those that the default target makes."""
    every = (output for target in found if target.in_all for output in target.outputs)
    return list(dict.fromkeys(output.path for output in [*every, *RECORDS] if output.on_page))


def outputs(found: Sequence[Target]) -> dict[str, Output]:
    """Path -> everything that these targets make, each once.

    Raises
    ------
    ConfigError
        If something is declared twice in different words.
    """
    every: dict[str, Output] = {}
    for output in (output for target in found for output in target.outputs):
        if every.setdefault(output.path, output) != output:
            raise ConfigError(f"{output.path} is declared twice, as {every[output.path].title!r} and {output.title!r}")
    return every


def words(folder: Path = FOLDER, package: str = PACKAGE) -> list[Words]:
    """What the studies say of their figures, one function each; imported by the page alone, for they need pandas.

    A function takes the name of a figure and the tables of the run (path below the results folder -> DataFrame), and
    returns a text for who does not see the figure, or None if it is not its own.
    """
    found = (path.parent.name for path in sorted(folder.glob("*/words.py")))
    return [importlib.import_module(f"{package}.{name}.words").words for name in found]


def parts(declared: Sequence[ModuleType] | None = None) -> dict[str, str]:
    """Folder of what is made on the way, below the results folder -> what is in it."""
    found = studies() if declared is None else declared
    return {folder: what for study in found for folder, what in getattr(study, "PARTS", {}).items()}


def copies(declared: Sequence[ModuleType] | None = None) -> dict[str, str]:
    """File of a full run, below the results folder -> its copy below docs/."""
    found: dict[str, str] = {}
    for study in studies() if declared is None else declared:
        for output, name in getattr(study, "DOCS", {}).items():
            if name in found.values():
                raise ConfigError(f"{study.__name__}: docs/{name} is the copy of another file already")
            found[output] = name
    return found
