"""Describe the run as an RO-Crate; the folder of the results becomes the crate."""

import json
import shutil
from pathlib import Path

from segshuffle.reproduction.jobs import job
from segshuffle.files import write_atomically
from segshuffle.reproduction.crate import crate

with job(snakemake):
    shutil.copyfile(snakemake.input.snakefile, snakemake.output.snakefile)
    metadata = Path(snakemake.output.metadata)
    described = crate(metadata.parent, date=snakemake.params.date)
    write_atomically(metadata, json.dumps(described, indent=2, ensure_ascii=False) + "\n")
