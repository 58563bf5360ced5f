# Inputs: the configuration. Outputs: the names that all other rule files use.
import os
import subprocess
from dataclasses import asdict
from pathlib import Path

from snakemake.exceptions import WorkflowError

try:
    from segshuffle.errors import ConfigError, SegshuffleError
    from segshuffle.studies.amplification import design
    from segshuffle.pipeline.config import check_config, given_msnbc_path
    from segshuffle.pipeline.dependencies import package_files
    from segshuffle.pipeline.design import (
        FIGURES,
        output_folder,
        panels,
        scenarios,
        settings,
    )
    from segshuffle.pipeline.processor import same_instructions
    from segshuffle.pipeline.stamp import SHIPPED, check_stamp, stamp_text
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
        where="the configuration",
    )
    MSNBC_PATH = given_msnbc_path(config, os.environ)
except SegshuffleError as error:
    raise WorkflowError(str(error))

OUT = output_folder(config)
SETTINGS = {setting.id: setting for setting in settings(config)}
SCENARIOS = {scenario.id: scenario for scenario in scenarios(config)}
FORMATS = ["pdf", "svg", "png"]


def part(*keys):
    """The slice of the configuration that a rule uses; editing another key does not rerun it."""
    return {key: config[key] for key in keys}


def code(script):
    """A script and every file of the package that it imports: an edit of any of them reruns the rule."""
    path = ROOT / "workflow/scripts" / script
    return [
        os.path.relpath(file)
        for file in [path, *package_files(path, source=ROOT / "src")]
    ]


def drawn(name, caption, category, **labels):
    """The files of a figure, PDF, SVG and PNG; the SVG goes into snakemake --report with its caption."""
    files = [f"{OUT}/figures/{name}.{suffix}" for suffix in FORMATS]
    shown = report(
        files[1],
        caption=f"../report/{caption}.rst",
        category=category,
        labels={"figure": name, **labels},
    )
    return [files[0], shown, files[2]]


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


def panel_settings(figure):
    """Panels of a figure as plain values for params; any name but fig2 ... fig6 means all panels."""
    chosen = panels(config, figure) if figure in FIGURES else SCENARIOS.values()
    return [
        {"setting": asdict(panel.setting), "split": panel.split} for panel in chosen
    ]


def sessions_of(wildcards):
    """MSNBC populations are drawn from the sessions; synthetic ones need no input."""
    if SETTINGS[wildcards.setting].dataset != "msnbc":
        return {}
    return {
        "sessions": rules.msnbc.output.sessions,
        "source": rules.msnbc.output.source,
    }


def amplification_files(items):
    """Figures and tables of some items, by name."""
    return [
        *expand(
            f"{OUT}/figures/{{item}}.{{format}}",
            item=[item for item in items if item in design.FIGURES],
            format=FORMATS,
        ),
        *expand(f"{OUT}/amplification/{{item}}.csv", item=items),
        *expand(
            f"{OUT}/amplification/{{item}}.md",
            item=[item for item in items if item in design.TABLES],
        ),
    ]
