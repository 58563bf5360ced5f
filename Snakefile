# Table of contents: configuration, rules, default target. `snakemake --list` shows all targets.
from snakemake.utils import min_version

min_version("9.0")


# a configuration file is taken as it stands: nothing of another one is mixed in
if not workflow.config_settings.configfiles:

    configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/console.smk"
include: "workflow/rules/takeover.smk"
include: "workflow/rules/common.smk"
include: "workflow/rules/jobs.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/stamp.smk"


onstart:
    without_rate_limit()
    submitted()
    renew_stamp()


# an included file cannot set the default target
rule all:
    """Everything: figures, tables, verdicts, provenance (default)."""
    default_target: True
    input:
        [f"{OUT}/{path}" for path in manifest.results(TARGETS)],
        rules.provenance.output,
        rules.runtimes.output,
        rules.page.output,
