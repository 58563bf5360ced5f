"""Draw the error over the privacy of the levels."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.pipeline.tables import read_tables
from segshuffle.studies.levels.report import draw

with job(snakemake) as edition:
    save(draw(read_tables(snakemake.input)), snakemake.output, edition)
