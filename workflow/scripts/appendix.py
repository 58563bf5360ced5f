"""Write the times and claims of a full run into the artifact appendix."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import job
from segshuffle.studies.held import appendix

with job(snakemake):
    path = Path(snakemake.output[0])
    experiments = snakemake.params.claims["experiments"]
    text = appendix(path.read_text(encoding="utf-8"), experiments, pd.read_csv(snakemake.input.runtimes))
    path.write_text(text, encoding="utf-8")
