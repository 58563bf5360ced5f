"""Write one table of the amplification papers in readable form; see segshuffle.experiment.amplification.readable."""

from pathlib import Path

import pandas as pd

from segshuffle.experiment.amplification.readable import to_markdown
from segshuffle.experiment.jobs import logged, write_atomically

with logged(snakemake.log[0]):
    text = to_markdown(snakemake.wildcards.item, pd.read_csv(snakemake.input.table))
    write_atomically(Path(snakemake.output[0]), text)
    print(text)
