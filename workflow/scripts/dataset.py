"""Obtain the data of one dataset; see segshuffle.datasets."""

import functools
import io
import json
import sys
from pathlib import Path

import numpy as np

from segshuffle.datasets.declared import Place
from segshuffle.datasets.registry import dataset_label, dataset_of
from segshuffle.pipeline.jobs import logged, write_atomically
from segshuffle.pipeline.seeds import stream

with logged(snakemake.log[0]):
    dataset = dataset_of(snakemake.wildcards.dataset)
    place = Place(
        given=Path(snakemake.input.given[0]) if snakemake.input.given else None,
        cache=Path(snakemake.params.cache),
        stream=functools.partial(stream, snakemake.params.seed),
        log=print,
        attempts=snakemake.params.attempts,
    )
    data, source = dataset.obtain(snakemake.params.section, place)
    print(f"{dataset_label(dataset.name, source.kind)}: {len(data)} users from {source.origin}")
    if source.kind != "real":
        print(f"STAND-IN, not the real data: {source.reason}")
    # by way of memory: on a full disk numpy's own writer does not say why it failed
    np.save(packed := io.BytesIO(), data)
    write_atomically(Path(snakemake.output.data), packed.getvalue())
    write_atomically(Path(snakemake.output.source), json.dumps(source.to_json(), indent=2) + "\n")

if source.kind != "real":
    # beyond the log: whoever watches the run must not miss it
    print(f"{dataset.name}: using a STAND-IN, not the real data (why: {snakemake.log[0]})", file=sys.stderr)
