"""Draw the error over the privacy of the levels."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.levels.report import draw
from segshuffle.reproduction.tables import read_tables

with job(snakemake) as edition:
    save(draw(read_tables(snakemake.input)), snakemake.output, edition)
