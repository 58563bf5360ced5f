"""Draw one figure of the amplification papers; see segshuffle.figures.amplification."""

import pandas as pd

from segshuffle.experiment.jobs import logged
from segshuffle.figures.amplification import draw
from segshuffle.figures.style import save

with logged(snakemake.log[0]):
    table = pd.read_csv(snakemake.input.table)
    figure = draw(snakemake.wildcards.item, table, edition=snakemake.params.edition)
    save(figure, snakemake.output)
