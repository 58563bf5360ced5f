"""Judge every statement of the paper's section 6."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import read_tables, read_yaml, write_markdown, write_table
from segshuffle.studies.claims.report import HEAD, evaluate
from segshuffle.studies.verdicts import markdown

with job(snakemake) as edition:
    errors = read_tables(snakemake.input.panels)
    claims = evaluate(errors, read_yaml(snakemake.input.statements), snakemake.params.settings)
    write_table(snakemake.output.table, claims)
    text = markdown(claims=claims, table=errors, title=HEAD)
    write_markdown(snakemake.output.readable, text, edition)
