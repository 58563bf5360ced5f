"""Tabulate and draw how close one level comes to a trusted curator; see segshuffle.studies.limit.compute."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.pipeline.style import save
from segshuffle.studies.limit.compute import limit_table
from segshuffle.studies.limit.figure import draw

with logged(snakemake.log[0]):
    table = limit_table(set_sizes=snakemake.params.set_sizes, deltas=snakemake.params.deltas)
    write_atomically(Path(snakemake.output.table), to_csv(table, upper=["epsilon"]))
    # drawn as it is read
    table = pd.read_csv(snakemake.output.table)
    save(draw(table, edition=snakemake.params.edition), snakemake.output.figures)
