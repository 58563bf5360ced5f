"""Judge the statements of the amplification papers."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import read_tables, write_markdown, write_table
from segshuffle.pipeline.words import titles
from segshuffle.studies.amplification.report import evaluate
from segshuffle.studies.verdicts import markdown

with job(snakemake) as edition:
    claims = evaluate(read_tables(snakemake.input.tables), snakemake.params.statements)
    write_table(snakemake.output.table, claims)
    title = "# Statements of the amplification papers, and what came out"
    write_markdown(
        snakemake.output.readable, markdown(claims=claims, title=title, papers=titles("amplification-")), edition
    )
