"""Judge every statement of the paper's section 6."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import read_tables, write_markdown, write_table
from segshuffle.studies.claims.report import HEAD, evaluate
from segshuffle.studies.readings.choices import place_of_ours
from segshuffle.studies.verdicts import markdown

with job(snakemake) as edition:
    errors = read_tables(snakemake.input.panels)
    claims = evaluate(errors, snakemake.params.statements, snakemake.params.settings)
    write_table(snakemake.output.table, claims)
    others = [place_of_ours(read_tables([path])) for path in snakemake.input.readings]
    text = markdown(claims=claims, table=errors, title="\n\n".join([HEAD, *others]))
    write_markdown(snakemake.output.readable, text, edition)
