"""Audit the published guarantee of one setting in the full view of the server; see segshuffle.experiment.audit."""

import json
from pathlib import Path

from segshuffle.experiment.audit import audit_setting
from segshuffle.experiment.design import Setting
from segshuffle.experiment.jobs import logged, to_csv, write_atomically

with logged(snakemake.log[0]):
    plans = json.loads(Path(snakemake.input.plans).read_text())
    table = audit_setting(snakemake.params.config, Setting(**snakemake.params.setting), plans)
    write_atomically(Path(snakemake.output[0]), to_csv(table))
