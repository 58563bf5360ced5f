"""Judge the statements of the paper; see segshuffle.studies.reproduction.panel_claims."""

from pathlib import Path

import pandas as pd
import yaml

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.reproduction.panel_claims import evaluate, to_markdown

with logged(snakemake.log[0]):
    table = pd.read_csv(snakemake.input.table[0])
    reference = yaml.safe_load(Path(snakemake.input.reference).read_text(encoding="utf-8"))
    claims = evaluate(table, reference, snakemake.params.config)
    sources = dict(zip(table["dataset"], table["source"], strict=True))
    text = to_markdown(claims, edition=snakemake.params.edition, sources=sources)
    write_atomically(Path(snakemake.output.table), to_csv(claims))
    write_atomically(Path(snakemake.output.readable), text)
    print(text)
