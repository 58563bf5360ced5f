"""Plan the methods of one setting. Reads no data."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.planning import plan_setting
from segshuffle.reproduction.tables import write_json

with job(snakemake):
    methods = snakemake.wildcards.methods
    plans = plan_setting(
        snakemake.params.settings,
        snakemake.params.setting,
        "proven" if methods == "proven" else "published",
        # the paper's own protocol has plans of its own
        left_out=["segmented"] if methods == "competitors" else [],
    )
    write_json(snakemake.output[0], plans)
