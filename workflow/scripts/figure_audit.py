"""Collect the audit and draw claimed against actual epsilon; see segshuffle.studies.audit.figure."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.pipeline.style import save
from segshuffle.studies.audit.figure import draw

with logged(snakemake.log[0]):
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.tables], ignore_index=True)
    save(draw(table, edition=snakemake.params.edition), snakemake.output.figures)
    write_atomically(Path(snakemake.output.table), to_csv(table))
