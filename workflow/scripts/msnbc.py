"""Obtain the MSNBC sessions; see segshuffle.datasets.fetch."""

import io
import json
from pathlib import Path

import numpy as np

from segshuffle.datasets.fetch import obtain_sessions
from segshuffle.pipeline.jobs import logged, write_atomically
from segshuffle.pipeline.seeds import stream

with logged(snakemake.log[0]):
    masks, source = obtain_sessions(
        path=Path(snakemake.input.given[0]) if snakemake.input.given else None,
        cache=Path(snakemake.params.cache),
        allow_download=snakemake.params.download,
        rng=stream(snakemake.params.seed, "stand-in"),
        log=print,
    )
    print(f"{source.label}: {masks.size} sessions from {source.origin}")
    if source.kind != "real":
        print(f"STAND-IN, not the real data: {source.reason}")
    # by way of memory: on a full disk numpy's own writer does not say why it failed
    np.save(packed := io.BytesIO(), masks)
    write_atomically(Path(snakemake.output.sessions), packed.getvalue())
    write_atomically(Path(snakemake.output.source), json.dumps(source.to_json(), indent=2) + "\n")
