"""Run one job of any rule: functions of the package, as their study declares them; see segshuffle.pipeline.jobs."""

import gc

from segshuffle.pipeline.jobs import run

# to look for cycles among a million imported objects, again and again and at the end, takes a job longer than to start
gc.disable()
run(snakemake.params.steps, snakemake.log[0], snakemake.threads, snakemake.config["edition"])
gc.freeze()
