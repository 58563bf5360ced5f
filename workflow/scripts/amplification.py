"""Draw the figures of the amplification papers, write their tables for readers, and judge their statements."""

from pathlib import Path

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.captions import titles
from segshuffle.reproduction.studies.amplification.report import draw, evaluate, table_markdown
from segshuffle.reproduction.studies.verdicts import markdown
from segshuffle.reproduction.tables import read_tables, write_markdown, write_table

with job(snakemake) as edition:
    inputs, outputs, params = snakemake.input, snakemake.output, snakemake.params
    tables = {Path(path).stem: read_tables([path]) for path in inputs.tables}
    for place, name in enumerate(params.curves):
        save(draw(tables[name]), outputs.drawings[3 * place : 3 * place + 3], edition)
    for path, said in zip(outputs.readable, params.titled, strict=True):
        write_markdown(path, table_markdown(tables[Path(path).stem], said), edition)
    claims = evaluate(read_tables(inputs.tables), params.statements)
    write_table(outputs.claims, claims)
    title = "# Statements of the amplification papers, and what came out"
    text = markdown(claims=claims, title=title, papers=titles("amplification-"))
    write_markdown(outputs.readable_claims, text, edition)
