"""Draw one figure of the amplification papers."""

import pandas as pd

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.studies.amplification.report import draw

with job(snakemake) as edition:
    save(draw(pd.read_csv(snakemake.input[0])), snakemake.output, edition)
