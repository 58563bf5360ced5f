"""Run one job of any rule: functions of the package that the rule declares; see segshuffle.pipeline.jobs."""

import gc

import numpy

from segshuffle.pipeline.jobs import run

# SciPy imports all that NumPy offers, also its tool for Fortran code, which takes long to load and which no job needs
numpy.f2py = None
# searching all imported objects for cycles, during a job and at its end, is a large part of a short job's time
gc.disable()
run(snakemake.params.steps, snakemake.log[0], snakemake.threads, snakemake.config["edition"])
gc.freeze()
