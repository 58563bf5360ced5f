"""Compare the error with one level with a Gaussian curator's."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.limit.compute import limit_table
from segshuffle.reproduction.studies.limit.report import draw
from segshuffle.reproduction.tables import write_table

with job(snakemake) as edition:
    table = limit_table(set_sizes=snakemake.params.set_sizes, deltas=snakemake.params.deltas)
    write_table(snakemake.output.table, table, upper=["epsilon"])
    save(draw(table), snakemake.output.drawing, edition)
