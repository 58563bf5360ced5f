"""Compare the error with one level with a Gaussian curator's."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.pipeline.tables import write_table
from segshuffle.studies.limit.compute import limit_table
from segshuffle.studies.limit.report import draw

with job(snakemake) as edition:
    table = limit_table(set_sizes=snakemake.params.set_sizes, deltas=snakemake.params.deltas)
    write_table(snakemake.output.table, table, upper=["epsilon"])
    save(draw(table), snakemake.output.drawing, edition)
