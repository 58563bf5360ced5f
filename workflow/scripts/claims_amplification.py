"""Judge the statements of the amplification papers; see segshuffle.studies.amplification.curve_claims."""

from pathlib import Path

import pandas as pd
import yaml

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.amplification.curve_claims import evaluate, to_markdown

with logged(snakemake.log[0]):
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.tables], ignore_index=True)
    reference = yaml.safe_load(Path(snakemake.input.reference).read_text(encoding="utf-8"))
    claims = evaluate(table, reference, points=snakemake.params.points)
    text = to_markdown(claims, edition=snakemake.params.edition)
    write_atomically(Path(snakemake.output.table), to_csv(claims))
    write_atomically(Path(snakemake.output.readable), text)
    print(text)
