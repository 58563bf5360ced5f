"""Profiles and resources: Snakemake finds them, and a job that failed asks for more."""

import re
from importlib import metadata

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

HUNGRY = """

rule hungry:
    output:
        "fed.txt",
    shell:
        "echo {resources.mem_mb} {resources.runtime} >> asked.txt; test {resources.mem_mb} -ge 3000 && touch {output}"
"""


@pytest.mark.exhaustive
def test_a_job_that_failed_asks_for_more(new_checkout):
    made = new_checkout()
    snakefile = made.folder / "Snakefile"
    snakefile.write_text(snakefile.read_text() + HUNGRY)
    said = made.finish("--cores", "1", "--retries", "2", "fed.txt")
    assert "Using workflow specific profile profiles/default" in said
    # 1000 MB and 15 minutes; then twice, then three times as much
    assert (made.folder / "asked.txt").read_text().splitlines() == ["1000 15", "2000 30", "3000 45"]


def test_the_plugin_of_the_slurm_profile_is_the_locked_one(root):
    locked = re.search(
        r"^snakemake-executor-plugin-slurm==(\S+)", (root / "requirements.lock").read_text(), re.MULTILINE
    )
    assert locked, "the profile needs it"
    assert metadata.version("snakemake-executor-plugin-slurm") == locked[1]
