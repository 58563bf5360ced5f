"""Tabulate and draw how close one level comes to a trusted curator; see segshuffle.experiment.limit."""

from pathlib import Path

from segshuffle.experiment.jobs import logged, to_csv, write_atomically
from segshuffle.experiment.limit import limit_table
from segshuffle.figures.limit import draw
from segshuffle.figures.style import save

with logged(snakemake.log[0]):
    table = limit_table(set_sizes=snakemake.params.set_sizes, deltas=snakemake.params.deltas)
    save(draw(table, edition=snakemake.params.edition), snakemake.output.figures)
    write_atomically(Path(snakemake.output.table), to_csv(table))
