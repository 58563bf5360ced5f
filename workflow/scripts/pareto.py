"""One table of all cases, who wins where, and verdicts; see segshuffle.studies.pareto."""

from pathlib import Path

import pandas as pd
import yaml

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.pareto.winners import claims_markdown, evaluate, markdown, read, winners

with logged(snakemake.log[0]):
    output, params = snakemake.output, snakemake.params
    table = pd.concat([read(path) for path in snakemake.input.tables], ignore_index=True)
    write_atomically(Path(output.table), to_csv(table))
    found = winners(table, params.budgets)
    write_atomically(Path(output.winners), to_csv(found))
    reference = yaml.safe_load(Path(snakemake.input.reference).read_text(encoding="utf-8"))
    claims = evaluate(table, reference)
    write_atomically(Path(output.claims), to_csv(claims))
    text = markdown(found, edition=params.edition) + "\n" + claims_markdown(claims)
    write_atomically(Path(output.readable), text)
