"""The run as an RO-Crate, read back by rocrate, against what the profile Workflow Run Crate 0.5 says it MUST have.

https://w3id.org/ro/wfrun/workflow/0.5, with those it extends: https://w3id.org/ro/wfrun/process/0.5 and
https://w3id.org/workflowhub/workflow-ro-crate/1.0.
"""

import json
import shutil
import subprocess

import pytest
import yaml
from rocrate.rocrate import ROCrate

from segshuffle.datasets.msnbc import LOG
from segshuffle.errors import DataError
from segshuffle.files import sha256_of
from segshuffle.reproduction.crate import crate

REAL = {"kind": "real", "sha256": "ab" * 32, "origin": "msnbc990928.seq.gz", "reason": ""}
VERSIONS = {"python": "3.11.7", "segshuffle": "0.1.0", "snakemake": "9.27.1", "numpy": "2.4.6"}


def check_crate(folder):
    """Check a crate against its profile and its files, and return it."""
    made = ROCrate(folder)
    root, workflow = made.root_dataset, made.mainEntity
    # root data entity: RO-Crate 1.1 and the three profiles
    assert {"name", "description", "datePublished", "license"} <= set(root.properties())
    conforms = {each.id: each.type for each in root["conformsTo"]}
    for profile in ("ro/wfrun/process/0.5", "ro/wfrun/workflow/0.5", "workflowhub/workflow-ro-crate/1.0"):
        assert conforms[f"https://w3id.org/{profile}"] == "CreativeWork"
    # the main workflow, its language and its parameters
    assert set(workflow.type) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert workflow in root["hasPart"]
    assert workflow["programmingLanguage"]["name"] == "Snakemake"
    slots = {slot["name"]: slot for slot in workflow["input"]}
    assert all(slot.type == "FormalParameter" and slot["additionalType"] for slot in slots.values())
    # its execution
    (action,) = root["mentions"]
    assert (action.type, action["instrument"]) == ("CreateAction", workflow)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    values = {each["name"]: each for each in action["object"] if each.type == "PropertyValue"}
    assert set(values) == set(slots) == set(config)
    for name, entity in values.items():
        assert entity["exampleOfWork"] == slots[name]
        value = entity["value"]
        assert (json.loads(value) if isinstance(value, str) else value) == config[name]
    # environment and code, as provenance.json has them
    record = json.loads((folder / "provenance.json").read_text())
    packages = {each["name"]: each["softwareVersion"] for each in workflow["softwareRequirements"]}
    assert packages == record["versions"]
    assert workflow["version"] == record["commit"]
    # every file is there, with its size and hash
    assert set(record["outputs"]) == {each.id for each in action["result"]} - {"provenance.json"}
    for entity in [*action["result"], made.get("config.yaml")]:
        assert entity in root["hasPart"]
        path = folder / entity.id
        assert (entity["sha256"], int(entity["contentSize"])) == (sha256_of(path), path.stat().st_size), entity.id
    assert (folder / workflow.id).is_file()
    return made


@pytest.fixture
def results(tmp_path, root, quick_config):
    """Return a folder with one table and the record of a run on real data."""
    (tmp_path / "mse.csv").write_text("mse\n1.0\n")
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(quick_config))
    (tmp_path / "workflow").mkdir()
    shutil.copyfile(root / "workflow/Snakefile", tmp_path / "workflow/Snakefile")
    record = {
        "commit": "0123",
        "edition": "quick",
        "versions": VERSIONS,
        "data": {"msnbc": REAL},
        "outputs": {"mse.csv": sha256_of(tmp_path / "mse.csv")},
    }
    (tmp_path / "provenance.json").write_text(json.dumps(record))
    return tmp_path


def test_real_data_are_an_input_with_hash_and_licence(results):
    described = crate(results, date="2026-11-21")
    assert crate(results, date="2026-11-21") == described
    (results / "ro-crate-metadata.json").write_text(json.dumps(described))
    made = check_crate(results)
    data = made.get(f"hash://sha256/{REAL['sha256']}")
    assert data in made.root_dataset["mentions"][0]["object"]
    assert data in made.root_dataset["hasPart"]
    assert (data["sha256"], data["license"]["name"]) == (REAL["sha256"], LOG.licence)
    assert made.root_dataset["datePublished"] == "2026-11-21"


def test_a_crate_without_a_commit_is_refused(results):
    with pytest.raises(DataError, match=r"no git checkout\. Run the workflow from a clone"):
        crate(results, date="unknown")


@pytest.mark.parametrize("content", [b"mse\n1.1\n", None])
def test_a_result_that_is_not_the_recorded_one_is_refused(results, content):
    path = results / "mse.csv"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(DataError, match=r"mse\.csv: is missing, or is not the file that provenance\.json records"):
        crate(results, date="2026-11-21")


@pytest.mark.slow
@pytest.mark.pipeline
def test_the_target_makes_a_crate_of_a_run(checkout, tmp_path):
    clone = checkout.copied(tmp_path / "clone")
    for command in (
        ["init", "-q"],
        ["add", "src", "workflow"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *command], cwd=clone.folder, check=True)
    clone.finish("--cores", "2", "crate")
    made = check_crate(clone.out)
    assert made.get("#data-msnbc")["name"] == "MSNBC (stand-in)"
    assert clone.text("data/msnbc/LICENCE.txt") == f"{LOG.licence}\n"
    assert str(clone.folder) not in clone.text("ro-crate-metadata.json")
    before = clone.text("ro-crate-metadata.json")
    clone.finish("--cores", "2", "crate", "--force")
    assert clone.text("ro-crate-metadata.json") == before
