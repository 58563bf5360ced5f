"""Fix every parameter of one setting from public quantities; see segshuffle.studies.reproduction.planning."""

from pathlib import Path

from segshuffle.pipeline.design import Setting
from segshuffle.pipeline.jobs import logged, to_json, write_atomically
from segshuffle.studies.reproduction.planning import plan_setting

with logged(snakemake.log[0]):
    setting, accounting = Setting(**snakemake.params.setting), snakemake.wildcards.accounting
    plans = plan_setting(snakemake.params.config, setting, accounting, n_jobs=snakemake.threads)
    write_atomically(Path(snakemake.output[0]), to_json(plans, indent=1) + "\n")
