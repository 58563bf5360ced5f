"""Draw the summary of all panels; see segshuffle.figures.summary."""

import pandas as pd

from segshuffle.experiment.jobs import logged
from segshuffle.figures.style import save
from segshuffle.figures.summary import draw

with logged(snakemake.log[0]):
    save(draw(pd.read_csv(snakemake.input.table[0]), edition=snakemake.params.edition), snakemake.output)
