"""Draw error over messages per user, for one size and split."""

import pandas as pd

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.studies.pareto.report import draw

with job(snakemake) as edition:
    asked = snakemake.wildcards
    table = pd.read_csv(snakemake.input[0])
    drawn = draw(table, n_users=int(asked.n_users), domain_size=int(asked.domain_size), split=asked.split)
    save(drawn, snakemake.output, edition)
