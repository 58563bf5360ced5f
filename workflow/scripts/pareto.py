"""One table of all cases, and who wins where; see segshuffle.studies.pareto.winners."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.pareto.winners import markdown, read, winners

with logged(snakemake.log[0]):
    output, params = snakemake.output, snakemake.params
    table = pd.concat([read(path) for path in snakemake.input.tables], ignore_index=True)
    write_atomically(Path(output.table), to_csv(table))
    found = winners(table, params.budgets)
    write_atomically(Path(output.winners), to_csv(found))
    write_atomically(Path(output.readable), markdown(found, edition=params.edition))
