# Inputs: the configuration. Outputs: the names that all other rule files use.
import json
import os
import subprocess
from dataclasses import asdict
from pathlib import Path

from snakemake.exceptions import WorkflowError

try:
    from segshuffle.errors import ConfigError, SegshuffleError
    from segshuffle.studies.amplification import exhibits
    from segshuffle.datasets import registry as datasets
    from segshuffle.pipeline.config import check_config
    from segshuffle.pipeline.dependencies import package_files
    from segshuffle.pipeline.design import ACCOUNTINGS, least_delta, output_folder
    from segshuffle.pipeline.processor import same_instructions
    from segshuffle.pipeline.scenarios import scenarios, settings
    from segshuffle.pipeline.stamp import SHIPPED, check_stamp, stamp_text
    from segshuffle.pipeline import manifest
    from segshuffle.studies.reproduction.outputs import panel_figures
except ImportError as error:
    raise WorkflowError(
        f"{error}: install the package into this environment first (make install, or pip install -e .)"
    )

ROOT = Path(workflow.basedir)
os.environ |= same_instructions()
CONDA = str(ROOT / "environment.yml")

try:
    check_config(
        config,
        schema=ROOT / "workflow/schemas/config.schema.yaml",
        where=", ".join(map(str, workflow.config_settings.configfiles))
        or "config/config.yaml",
    )
    GIVEN = {
        name: datasets.given_path(name, section, os.environ)
        for name, section in config["datasets"].items()
    }
except SegshuffleError as error:
    raise WorkflowError(str(error))

OUT = output_folder(config)
SETTINGS = {setting.id: setting for setting in settings(config)}
SCENARIOS = {scenario.id: scenario for scenario in scenarios(config)}
FETCHED = [name for name in config["datasets"] if datasets.dataset_of(name).obtain]
PANEL_FIGURES = panel_figures(list(SCENARIOS.values()))
FORMATS = manifest.FORMATS
TARGETS = manifest.targets(config, list(SCENARIOS.values()))
RESULTS = [f"{OUT}/{path}" for path in manifest.results(TARGETS)]
# file that the report shows -> what is said of it; workflow/report/output.rst looks here
SAID = {
    f"{OUT}/{output.shown}": output
    for output in [*manifest.outputs(TARGETS).values(), *manifest.RECORDS]
}
DECLARED = [
    os.path.relpath(path) for path in sorted(manifest.FOLDER.glob("*/outputs.py"))
]


def part(*keys):
    """The slice of the configuration that a rule uses; editing another key does not rerun it."""
    return {key: config[key] for key in keys}


# all that rules without the options of the proven methods read of their section
HONEST = {"proven": {"honest_fraction": config["proven"]["honest_fraction"]}}


def code(script):
    """A script and every file of the package that it imports: an edit of any of them reruns the rule."""
    path = ROOT / "workflow/scripts" / script
    return [
        os.path.relpath(file)
        for file in [path, *package_files(path, source=ROOT / "src")]
    ]


def shown(path):
    """A file that goes into snakemake --report, under the heading and with the words that its study declares."""
    if "{" not in path and path not in SAID:
        raise WorkflowError(
            f"{path} is shown but not declared: add an Output to the outputs.py of its study."
        )

    def said(wildcards):
        return SAID[path.format_map(dict(wildcards.items()))]

    return report(
        path,
        caption="../report/output.rst",
        category=lambda wildcards: said(wildcards).group.short,
        labels=lambda wildcards: {
            "name": said(wildcards).name,
            "what": said(wildcards).title,
        },
    )


def drawn(name):
    """The files of a figure, PDF, SVG and PNG; the SVG is in the report."""
    pdf, svg, png = (f"{OUT}/figures/{name}.{suffix}" for suffix in FORMATS)
    return [pdf, shown(svg), png]


def memory(peak_mb):
    """A job's mem_mb: twice the peak in results/runtimes.csv, and what Snakemake needs around it on a cluster."""
    return lambda wildcards, attempt: (2 * peak_mb + 400) * attempt


def minutes(longest_seconds):
    """A job's runtime: ten times the longest in results/runtimes.csv, and five minutes for a slow start."""
    return lambda wildcards, attempt: (5 + -(-longest_seconds // 6)) * attempt


def git(*arguments):
    """What git says of this checkout."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit():
    """Commit of the code, with -dirty if tracked files differ; "unknown" outside a checkout of its own."""
    try:
        # a copy inside another repository would be given that one's commit
        if git("rev-parse", "--show-prefix"):
            return "unknown"
        return git("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def panel_tables(panels, accountings):
    """Tables of some panels under some accountings."""
    return [
        f"{OUT}/panels/{accounting}/{panel.id}.csv"
        for accounting in accountings
        for panel in panels
    ]


def drawn_tables(figure):
    """What a figure of the panels is drawn from; on the proven side the paper's curve is drawn beside."""
    shown = PANEL_FIGURES[figure]
    beside = ACCOUNTINGS[: ACCOUNTINGS.index(shown.accounting) + 1]
    return panel_tables(shown.panels, beside)


def data_of(wildcards):
    """What a population is drawn from; synthetic ones need no input."""
    name = SETTINGS[wildcards.setting].dataset
    if name not in FETCHED:
        return {}
    return {
        "data": f"{OUT}/data/{name}/data.npy",
        "source": f"{OUT}/data/{name}/source.json",
    }


def section_of(name):
    """A dataset's section of the configuration but for its sizes and places: what its data and populations hang on."""
    apart = {"n_users", "set_sizes", "path"}
    section = config["datasets"][name]
    return {key: value for key, value in section.items() if key not in apart}


def refreshed(name):
    """The marker that real data have come in the place of a stand-in, if they have: it makes the data anew.

    Looked for once per run (a dry run as well, to say what would run), and only while a stand-in is in use.
    """
    folder = Path(f"{OUT}/data/{name}")
    marker, dataset = folder / "refreshed", datasets.dataset_of(name)
    if workflow.is_main_process and dataset.refresh:
        if is_stand_in(folder / "source.json") and not GIVEN[name]:
            if dataset.refresh(config["datasets"][name], Path("data")):
                marker.touch()
    return [str(marker)] if marker.exists() else []


def is_stand_in(record):
    """Whether the record of a data source is that of a stand-in."""
    return (
        record.is_file()
        and json.loads(record.read_text(encoding="utf-8"))["kind"] == "stand-in"
    )


REFRESHED = {name: refreshed(name) for name in FETCHED}
