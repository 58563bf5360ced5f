"""Audit the published guarantee of one setting in the full view of the server; see segshuffle.studies.audit.compute."""

import json
from pathlib import Path

from segshuffle.pipeline.design import Setting
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.audit.compute import LOWER, UPPER, audit_setting

with logged(snakemake.log[0]):
    plans = json.loads(Path(snakemake.input.plans).read_text())
    table = audit_setting(snakemake.params.config, Setting(**snakemake.params.setting), plans)
    write_atomically(Path(snakemake.output[0]), to_csv(table, lower=LOWER, upper=UPPER))
