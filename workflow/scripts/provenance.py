"""Record what the run was made of and how long it took, with a list of the results."""

from segshuffle.reproduction.jobs import job
from segshuffle.files import write_atomically
from segshuffle.reproduction.provenance import contents, effective, provenance
from segshuffle.reproduction.runtimes import runtimes
from segshuffle.reproduction.tables import write_markdown, write_table

with job(snakemake) as edition:
    config, outputs, sources = snakemake.params.config, snakemake.input.outputs, snakemake.input.sources
    write_atomically(snakemake.output.config, effective(config))
    write_markdown(snakemake.output.contents, contents(outputs, sources, config=config), edition)
    record = provenance(outputs, sources, config=config, commit=snakemake.params.commit)
    write_atomically(snakemake.output.record, record)
    write_table(snakemake.output.runtimes, runtimes(snakemake.params.benchmarks))
