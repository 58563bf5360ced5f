"""Compare the claimed and the actual guarantee of one setting. Reads no data."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.audit.compute import audit_setting
from segshuffle.reproduction.tables import read_json, write_table

with job(snakemake):
    table = audit_setting(snakemake.params.settings, snakemake.params.setting, read_json(snakemake.input.plans))
    write_table(
        snakemake.output[0],
        table,
        lower=["item_delta_lower", "proven_user_delta"],
        upper=["item_delta", "user_delta", "actual_user_epsilon"],
    )
