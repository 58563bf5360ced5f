"""Draw the error over the privacy of the levels; see segshuffle.figures.levels."""

import pandas as pd

from segshuffle.experiment.jobs import logged
from segshuffle.figures.levels import draw
from segshuffle.figures.style import save

with logged(snakemake.log[0]):
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.tables], ignore_index=True)
    save(draw(table, edition=snakemake.params.edition), snakemake.output)
