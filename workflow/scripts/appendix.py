"""Write the times and claims of a full run into the artifact appendix."""

from pathlib import Path

import pandas as pd

from segshuffle.reproduction.jobs import logged
from segshuffle.reproduction.studies.own_claims import appendix

# a document of the project, no result: no digest lies beside it
with logged(str(snakemake.log[0])):
    path = Path(snakemake.output[0])
    experiments = snakemake.params.claims["experiments"]
    text = appendix(path.read_text(encoding="utf-8"), experiments, pd.read_csv(snakemake.input.runtimes))
    path.write_text(text, encoding="utf-8")
