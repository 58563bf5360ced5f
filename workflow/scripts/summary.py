"""Draw the summary of all panels; see segshuffle.studies.reproduction.figure_summary."""

import pandas as pd

from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.style import save
from segshuffle.studies.reproduction.figure_summary import draw

with logged(snakemake.log[0]):
    save(draw(pd.read_csv(snakemake.input.table[0]), edition=snakemake.params.edition), snakemake.output)
