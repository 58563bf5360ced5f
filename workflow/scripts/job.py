"""Run one job of any rule: functions of the package, as their study declares them; see segshuffle.pipeline.jobs."""

from segshuffle.pipeline.jobs import run

run(snakemake.params.steps, snakemake.log[0], snakemake.threads, snakemake.config["edition"])
