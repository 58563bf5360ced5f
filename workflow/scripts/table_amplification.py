"""Write one table of the amplification papers in readable form; see segshuffle.studies.amplification.curve_claims."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, write_atomically
from segshuffle.studies.amplification.curve_claims import table_markdown

with logged(snakemake.log[0]):
    text = table_markdown(snakemake.wildcards.exhibit, pd.read_csv(snakemake.input.table))
    write_atomically(Path(snakemake.output[0]), text)
    print(text)
