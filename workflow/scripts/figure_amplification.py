"""Draw one figure of the amplification papers; see segshuffle.studies.amplification.figure."""

import pandas as pd

from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.style import save
from segshuffle.studies.amplification.figure import draw

with logged(snakemake.log[0]):
    table = pd.read_csv(snakemake.input.table)
    figure = draw(snakemake.wildcards.exhibit, table, edition=snakemake.params.edition)
    save(figure, snakemake.output)
