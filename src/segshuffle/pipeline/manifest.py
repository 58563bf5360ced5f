"""What a run makes and how, with titles and captions; every study declares this once, in its ``outputs.py``.

Rules, list of targets, default target, page, Snakemake's report, results/README.md and the copies in docs/ are derived
from these declarations. Every folder of studies/ with an ``outputs.py`` that has ``targets`` and ``rules`` is a study.
The file may also have ``DOCS`` (files of a full run, and their copies below docs/), ``PARTS`` (folders of intermediate
files, and their content) and ``COLUMNS`` (tables, their columns, and the meaning of each); paths are below the results
folder. ``report.py`` in the same folder may have ``words``, which describe its figures. Every remote job
parses the Snakefile, which imports this module. So it uses only the standard library.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from segshuffle.errors import ConfigError
from segshuffle.pipeline.design import Config, Panels

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
        Texts in the table of contents, as heading, and below the heading.
    rank : int
        Lower ranks come first on the page.
    """

    id: str
    short: str
    title: str
    introduction: str
    rank: int = 100


FURTHER = Group("further", "Further", "Further studies", "Studies that were added to this project.", 1000)
#: Categories of the report without figures; no heading of the page is made from them.
OVERVIEW = Group("overview", "Overview", "Overview", "", -1)
VERDICTS = Group("verdicts", "Verdicts", "Verdicts", "", 0)
RUN = Group("run", "The run", "The run", "", 2000)


@dataclass(frozen=True)
class Output:
    """A file of a run, or a figure in its three formats, with the title and caption for all places that show it.

    Parameters
    ----------
    path : str
        File below the results folder; "figures/x" stands for its PDF, SVG and PNG.
    title : str
        What the file is, in a few words without a full stop.
    caption : str, optional
        How to read it, and the kind of its numbers.
    group : Group, optional
        Where it is shown.
    on_page : bool, optional
        Whether the page reads this table for its words, tables or charts. Figures are on the page in any case.
    """

    path: str
    title: str
    caption: str = ""
    group: Group = FURTHER
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
        return files_of(self.path)

    @property
    def in_report(self) -> bool:
        """Whether Snakemake's report shows the output: it has a caption, and is not the readable copy of a table."""
        return bool(self.caption) and not self.path.endswith(".md")


def files_of(path: str) -> tuple[str, ...]:
    """Return the files that a path stands for: a figure is written in three formats."""
    return tuple(f"{path}.{suffix}" for suffix in FORMATS) if path.startswith("figures/") else (path,)


#: What is written about a run, see `frame`.
RECORDS = (
    Output(
        "index.html",
        "everything on one page: summary, verdicts, figures, interactive charts; opens without a network",
        "Every privacy number on the page has its kind.",
        OVERVIEW,
    ),
    Output("config.yaml", "the configuration in effect", group=RUN),
    Output(
        "provenance.json",
        "versions, commit, seed, data source, and the SHA-256 of the figures, tables and verdicts",
        "Intermediate files (plans, populations, errors, parts of tables) have no hash. No time is recorded: the same "
        "configuration, code, package versions and data give the same file.",
        RUN,
    ),
    Output(
        "runtimes.csv",
        "seconds and memory per rule",
        "Measured by Snakemake's benchmarks on the machine of the run. The page shows this table.",
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
        What the target makes, in the words of ``snakemake --list``.
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


#: Values by name, or a function that returns them for a case.
Named = Mapping[str, Any] | Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True)
class Step:
    """A function of the package, its arguments, and the file for its result.

    Files are below the results folder, and "{case}" stands for the case of the rule; a `Path` is taken as it is.

    Parameters
    ----------
    output : str or tuple of str
        File; "figures/x" stands for its PDF, SVG and PNG. Where there are several, the function returns a value for
        each.
    function : str
        Module below `segshuffle` and name: "studies.limit.compute:limit_table".
    inputs : mapping or callable, optional
        Parameter -> file or list of files that it is read from. Several tables become one, several other files a
        mapping by their names without endings. If an earlier step of the rule made a file, its result is passed on.
    arguments : mapping or callable, optional
        Further arguments; Snakemake compares their `repr`.
    lower, upper : tuple of str
        Columns of certified lower and upper bounds, which are rounded down and up.
    read : bool
        Whether the function gets the contents of the files; otherwise it gets their paths.
    """

    output: str | tuple[str, ...]
    function: str
    inputs: Named = field(default_factory=dict)
    arguments: Named = field(default_factory=dict)
    lower: tuple[str, ...] = ()
    upper: tuple[str, ...] = ()
    read: bool = True

    @property
    def outputs(self) -> tuple[str, ...]:
        """The files and figures, one for every value."""
        return (self.output,) if isinstance(self.output, str) else self.output


#: `Rule.follows` of a job that uses no method and no dataset, such as one that makes a table from other tables.
NOTHING: Named = {"protocols": (), "datasets": ()}


@dataclass(frozen=True)
class Rule:
    """Jobs of one kind, one for every case; log, benchmark, threads and resources follow from it.

    Parameters
    ----------
    name : str
        Name of the rule.
    what : str
        What a job makes, in one sentence, for the console.
    steps : tuple of Step
        What a job does, in this order.
    cases : tuple of str
        Names of the jobs, parts of the names of their files; ("",) for a single job.
    seconds : int
        Duration of the longest job, as in results/runtimes.csv.
    priority : callable
        Case -> whether Figures 2-6 of the paper need the job, which is then run before others.
    follows : mapping or callable
        The files of a registry that the job uses: folder ("protocols", "datasets") -> names of files. If a folder is
        not named, the job uses all its files.
    """

    name: str
    what: str
    steps: tuple[Step, ...]
    cases: tuple[str, ...] = ("",)
    seconds: int = 10
    priority: Callable[[str], bool] = lambda _: False
    follows: Named = field(default_factory=dict)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Files and figures of every step."""
        return tuple(output for step in self.steps for output in step.outputs)

    def job(self, case: str, folder: str) -> list[dict[str, Any]]:
        """Return what `jobs.run` needs: the steps of one case, with the paths of their files."""
        return [
            {
                "function": step.function,
                "inputs": {name: _located(given, folder, case) for name, given in at(step.inputs, case).items()},
                "outputs": [
                    [f"{folder}/{file}" for file in files_of(output.replace("{case}", case))] for output in step.outputs
                ],
                "arguments": dict(at(step.arguments, case)),
                "lower": step.lower,
                "upper": step.upper,
                "read": step.read,
            }
            for step in self.steps
        ]


def at(named: Named, case: str) -> Mapping[str, Any]:
    """Return the values for one case."""
    return named(case) if callable(named) else named


def _located(given: Any, folder: str, case: str) -> Any:
    if isinstance(given, str):
        return f"{folder}/{given.replace('{case}', case)}"
    return str(given) if isinstance(given, Path) else [_located(each, folder, case) for each in given]


def inputs_of(job: Sequence[Mapping[str, Any]]) -> list[str]:
    """List every file that a job reads and does not make itself, each once."""
    made = {file for step in job for files in step["outputs"] for file in files}
    read = (given for step in job for given in step["inputs"].values())
    files = (file for given in read for file in ([given] if isinstance(given, str) else given))
    return [file for file in dict.fromkeys(files) if file not in made]


def part(config: Config, *keys: str) -> Config:
    """Return the part of the configuration that a job uses, so that editing another key does not run it again."""
    return {key: config[key] for key in keys}


def honest(config: Config) -> Config:
    """Return the part of the section ``proven`` that methods without options use."""
    return {"proven": {"honest_fraction": config["proven"]["honest_fraction"]}}


def studies(file: str = "outputs") -> Iterator[ModuleType]:
    """Import `outputs.py` of every study, in the order of their names, or another file of the studies that have it."""
    for path in sorted(FOLDER.glob(f"*/{file}.py")):
        yield importlib.import_module(f"{PACKAGE}.{path.parent.name}.{file}")


def rules(config: Config, panels: Panels) -> list[Rule]:
    """Return the rules of all studies for one configuration.

    Raises
    ------
    ConfigError
        If a rule makes a figure that no target declares.
    """
    found = [rule for study in studies() for rule in study.rules(config, panels)]
    made = {output.replace("{case}", case) for rule in found for case in rule.cases for output in rule.outputs}
    for output in sorted(made - set(outputs(targets(config, panels)))):
        if output.startswith("figures/"):
            raise ConfigError(f"{output} is made but not declared: add an Output to a target of its study")
    return found


def targets(config: Config, panels: Panels) -> list[Target]:
    """Return the targets of all studies for one configuration."""
    return [target for study in studies() for target in study.targets(config, panels)]


def results(found: Sequence[Target]) -> list[str]:
    """List every file that the default target makes, below the results folder, each once."""
    return list(dict.fromkeys(file for target in found if target.in_all for file in target.files))


def on_page(found: Sequence[Target]) -> list[str]:
    """List every table that the page reads, below the results folder, of those that the default target makes."""
    every = (output for target in found if target.in_all for output in target.outputs)
    return list(dict.fromkeys(output.path for output in [*every, *RECORDS] if output.on_page))


def outputs(found: Sequence[Target]) -> dict[str, Output]:
    """Map every path to what these targets make there, each once."""
    return {output.path: output for target in found for output in target.outputs}


def words() -> list[Words]:
    """Find the functions of the studies that describe figures. Only the page imports them, because they need pandas.

    A function takes the name of a figure and the tables of the run (path below the results folder -> DataFrame). It
    returns a text for readers who do not see the figure, or None if the figure is not its own.
    """
    return [study.words for study in studies("report") if hasattr(study, "words")]


def said(name: str) -> dict[str, Any]:
    """Put together the DOCS, PARTS or COLUMNS of all studies (see the module's text)."""
    return {key: what for study in studies() for key, what in getattr(study, name, {}).items()}
