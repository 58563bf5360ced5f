"""Draw error over messages per user, a figure for every size and split."""

import pandas as pd

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.pareto.report import draw

with job(snakemake) as edition:
    table, outputs = pd.read_csv(snakemake.input[0]), snakemake.output
    for place, asked in enumerate(snakemake.params.figures):
        save(draw(table, **asked), outputs[3 * place : 3 * place + 3], edition)
