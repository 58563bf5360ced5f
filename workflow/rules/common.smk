# Inputs: the configuration. Outputs: the names that jobs.smk, targets.smk and stamp.smk use.
import os
from pathlib import Path

from snakemake.exceptions import WorkflowError

try:
    from segshuffle.errors import ConfigError, SegshuffleError
    from segshuffle.datasets.registry import dataset_of, given_path
    from segshuffle.pipeline import frame, manifest
    from segshuffle.pipeline.config import (
        SHIPPED,
        check_config,
        check_stamp,
        read_config,
        stamp_text,
    )
    from segshuffle.pipeline.dependencies import digest
    from segshuffle.pipeline.design import output_folder
    from segshuffle.pipeline.jobs import modules_of
    from segshuffle.pipeline.processors import job_environment
    from segshuffle.pipeline.provenance import commit_of
    from segshuffle.pipeline.scenarios import scenarios
except ImportError as error:
    raise WorkflowError(
        f"{error}: install the package into this environment first (make install, or pip install -e .)"
    )

ROOT = Path(workflow.basedir)
os.environ |= job_environment()
CONDA = str(ROOT / "environment.yml")
CONFIGFILES = [
    Path(file) for file in workflow.config_settings.configfiles or [ROOT / SHIPPED]
]

try:
    for file in CONFIGFILES:
        read_config(file)
    check_config(
        config,
        schema=ROOT / "workflow/schemas/config.schema.yaml",
        where=", ".join(os.path.relpath(file) for file in CONFIGFILES),
    )
    GIVEN = {
        name: given_path(name, section, os.environ)
        for name, section in config["datasets"].items()
    }
    OUT = output_folder(config)
    PANELS = scenarios(config)
    TARGETS = manifest.targets(config, PANELS)
    RULES = frame.rules(
        config,
        PANELS,
        manifest.rules(config, PANELS),
        given=GIVEN,
        looks=workflow.is_main_process,
        commit=commit_of(ROOT),
    )
except SegshuffleError as error:
    raise WorkflowError(str(error))

# file that the report shows -> what is said of it; workflow/report/output.rst looks here
SAID = {
    f"{OUT}/{output.shown}": output
    for output in [*manifest.outputs(TARGETS).values(), *manifest.RECORDS]
}


def memory(wildcards, attempt):
    """Return mem_mb of a job: twice the largest in results/runtimes.csv, which is 500."""
    return 1000 * attempt


def minutes(longest_seconds):
    """Return the runtime of a job: ten times the longest in results/runtimes.csv, and five minutes for a slow start."""
    return lambda wildcards, attempt: (5 + -(-longest_seconds // 6)) * attempt


def without_rate_limit():
    """Lift the limit of jobs per second, which is for clusters.

    With it, every finished job adds one look per second at all waiting jobs: hundreds of looks a second at the end of a
    long run.
    """
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
