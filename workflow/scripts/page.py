"""Put everything on one page."""

from segshuffle.reproduction.jobs import job
from segshuffle.files import write_atomically
from segshuffle.reproduction.page.build import page

with job(snakemake):
    results = snakemake.input.results
    tables = [path for path in results if path.endswith(".csv")]
    figures = [path for path in results if path.endswith(".svg")]
    text = page(tables, figures, snakemake.input.provenance)
    write_atomically(snakemake.output[0], text)
