"""Record what the run was made of, and what each file is; see segshuffle.pipeline.provenance."""

import json
from pathlib import Path

import yaml

from segshuffle.pipeline.design import without_paths
from segshuffle.pipeline.jobs import logged, write_atomically
from segshuffle.pipeline.provenance import provenance
from segshuffle.pipeline.results_readme import readme
from segshuffle.studies.reproduction.columns import COLUMNS

with logged(snakemake.log[0]):
    root = Path(snakemake.output.provenance).parent
    config = without_paths(snakemake.params.config)
    data = {Path(path).parent.name: json.loads(Path(path).read_text()) for path in snakemake.input.sources}
    text = provenance(
        outputs=[Path(path) for path in snakemake.input.outputs],
        root=root,
        config=config,
        data=data,
        commit=snakemake.params.commit,
    )
    write_atomically(Path(snakemake.output.config), yaml.safe_dump(config, sort_keys=False))
    write_atomically(Path(snakemake.output.readme), readme(config=config, data=data, columns=COLUMNS))
    write_atomically(Path(snakemake.output.provenance), text)
