"""Put everything on one page."""

from segshuffle.reproduction.jobs import job
from segshuffle.files import write_atomically
from segshuffle.reproduction.page.build import page

with job(snakemake):
    files = snakemake.input
    figures = [path for path in files.results if path.endswith(".svg")]
    text = page(files.tables, figures, files.provenance)
    write_atomically(snakemake.output[0], text)
