"""Draw the error over the privacy of the levels; see segshuffle.studies.levels.figure."""

import pandas as pd

from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.style import save
from segshuffle.studies.levels.figure import draw

with logged(snakemake.log[0]):
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.tables], ignore_index=True)
    save(draw(table, edition=snakemake.params.edition), snakemake.output)
