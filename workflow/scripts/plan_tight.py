"""Fix every parameter of the proven protocols of one setting; see segshuffle.studies.reproduction.proven_planning."""

from pathlib import Path

from segshuffle.pipeline.design import Setting
from segshuffle.pipeline.jobs import logged, to_json, write_atomically
from segshuffle.studies.reproduction.proven_planning import plan_tight

with logged(snakemake.log[0]):
    plans = plan_tight(snakemake.params.config, Setting(**snakemake.params.setting))
    write_atomically(Path(snakemake.output[0]), to_json(plans, indent=1) + "\n")
