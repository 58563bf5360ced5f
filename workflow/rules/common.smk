# Inputs: the configuration. Outputs: what all rules use: paths, panels, and the helpers in params and resources.
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(str(workflow.current_basedir), "../..").resolve()
# no package has to be installed where the sources lie beside the workflow
sys.path.insert(0, str(ROOT / "src"))

from segshuffle.datasets.interface import CACHE, recorded_kind
from segshuffle.datasets.registry import dataset_of, given_path
from segshuffle.errors import SegshuffleError
from segshuffle.reproduction.code import PACKAGE, code_of, commit_of, date_of
from segshuffle.reproduction.config import check_config, read_config
from segshuffle.reproduction.design import (
    FIGURES,
    figures_of,
    grid_of,
    least_delta,
    output_folder,
)
from segshuffle.reproduction.processors import job_environment
from segshuffle.reproduction.scenarios import scenarios, settings
from segshuffle.reproduction.tables import read_yaml
from segshuffle.reproduction.captions import FORMATS, Captions, exhibits

os.environ |= job_environment()
# given on the command line, or by the workflow that uses this one as a module
CONFIGFILES = [str(file) for file in workflow.config_settings.configfiles]
CONFIGFILES = CONFIGFILES or [
    str(file) for file in workflow.configfiles if str(file) != CONFIG
]

try:
    for file in CONFIGFILES:
        read_config(Path(file))
    check_config(
        config,
        schema=Path(workflow.source_path("../schemas/config.schema.yaml")),
        where=", ".join(map(os.path.relpath, CONFIGFILES)) or "config",
    )
    # dataset -> the user's own copy of its data, or None
    GIVEN = {
        name: given_path(name, section, os.environ)
        for name, section in config["datasets"].items()
    }
except SegshuffleError as error:
    raise WorkflowError(str(error))

SETTINGS = {setting.id: setting for setting in settings(config)}
PANELS = scenarios(config)
# the paper's datasets
PAPER = {dataset for dataset, _ in FIGURES.values()}
PAPER_SETTINGS = [name for name, each in SETTINGS.items() if each.dataset in PAPER]
# figure -> its panels
FIGURE_PANELS = figures_of(PANELS)
CAPTIONS = Captions(config)
OUT = output_folder(config)
# words of all studies
SAID = [str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("captions.yaml")]
# code that jobs depend on, by stage, for code_of; a job of a study depends on the study's folder, too
DATA = (
    "datasets",
    "numerics/__init__.py",
    "numerics/ranges.py",
    "reproduction/data.py",
)
COMPUTE = (
    *DATA,
    "accounting",
    "blankets",
    "numerics",
    "plans",
    "protocols",
    "reproduction/studies/planning.py",
)
DRAW = (
    "datasets",
    "drawing/looks.py",
    "drawing/segshuffle.mplstyle",
    "drawing/style.py",
    "reproduction/studies/drawing.py",
    "reproduction/studies/verdicts.py",
)
PAGE = (
    *COMPUTE,
    *SAID,
    "drawing",
    "reproduction/page",
    "reproduction/provenance.py",
    "reproduction/studies",
)


pathvars:
    results=OUT,
    logs="<results>/logs",
    benchmarks="<results>/benchmarks",


wildcard_constraints:
    accounting="published|proven",
    methods="published|competitors|proven",
    dataset="[a-z][a-z0-9-]*",
    n_users=r"\d+",
    domain_size=r"\d+",
    set_size=r"\d+",
    exhibit=r"(decomposition|variation|personalized)(-table)?\d+",
    panels=r"fig\d(-proven)?|panels-.+|summary|messages-proven",


def used(*keys):
    """Return the part of the configuration that a job uses: editing another key does not run it again."""
    return {key: config[key] for key in keys}


def honest():
    """Return the part of the section `proven` that methods without options use."""
    return {"proven": {"honest_fraction": config["proven"]["honest_fraction"]}}


def setting_of(wildcards):
    """Return the population of a job."""
    name = "{dataset}-n{n_users}-s{set_size}".format(**wildcards)
    return of_configuration(SETTINGS, name)


def of_configuration(found, name):
    """Look up what a configuration declares, or say that it does not."""
    if name not in found:
        raise WorkflowError(
            f"{name} is not in the configuration, which has: {', '.join(found)}"
        )
    return found[name]


def published_first(wildcards):
    """Prefer the jobs of the paper's own figures to those of the proven protocol and of other data."""
    if wildcards.get("dataset") not in (None, *PAPER):
        return 0
    for wildcard in ("accounting", "methods", "panels"):
        name = str(wildcards.get(wildcard))
        if "proven" in name or name.startswith("panels-"):  # figures of other data
            return 0
    return 1
