"""Profiles and resources: found by Snakemake, every key with its reason, every job asks for what was measured."""

import re
from importlib import metadata

import pytest
import yaml

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

HUNGRY = """

rule hungry:
    output:
        "fed.txt",
    resources:
        mem_mb=memory(100),
        runtime=minutes(60),
    shell:
        "echo {resources.mem_mb} {resources.runtime} >> asked.txt; test {resources.mem_mb} -ge 1800 && touch {output}"
"""


@pytest.mark.parametrize("name", ["default", "slurm"])
def test_every_key_has_its_reason(root, name):
    path = root / f"profiles/{name}/config.yaml"
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert len(lines) == len(yaml.safe_load(path.read_text()))
    for line in lines:
        assert re.search(r" # .{20,}$", line), line


@pytest.mark.exhaustive
def test_a_job_that_failed_asks_for_more(new_checkout):
    made = new_checkout()
    snakefile = made.folder / "Snakefile"
    snakefile.write_text(snakefile.read_text() + HUNGRY)
    said = made.finish("--cores", "1", "--retries", "2", "fed.txt")
    assert "Using workflow specific profile profiles/default" in said
    # 2 * 100 + 400 MB, 5 + 60 / 6 minutes; then twice, then three times as much
    assert (made.folder / "asked.txt").read_text().splitlines() == ["600 15", "1200 30", "1800 45"]


def test_the_plugin_of_the_slurm_profile_is_the_locked_one(root):
    locked = re.search(
        r"^snakemake-executor-plugin-slurm==(\S+)", (root / "requirements.lock").read_text(), re.MULTILINE
    )
    assert locked, "the profile needs it"
    assert metadata.version("snakemake-executor-plugin-slurm") == locked[1]
