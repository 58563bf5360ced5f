"""A run as an RO-Crate, by the profile Workflow Run Crate 0.5: what it was made of and what it made.

The folder of the results is the crate. No time of the run is recorded, so that the same run gives the same file: the
profile's required date is that of the commit, and its recommended `endTime` is left out.
"""

import json
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity, Entity
from rocrate.rocrate import ROCrate

from segshuffle.datasets.registry import dataset_label, dataset_of
from segshuffle.errors import DataError
from segshuffle.files import sha256_of
from segshuffle.reproduction.tables import read_json, read_yaml

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
LICENCE = "https://spdx.org/licenses/MIT"
WORKFLOW = "workflow/Snakefile"
#: Type of a value of the configuration -> its type in the crate; all others are JSON texts.
TYPES = {bool: "Boolean", int: "Integer", float: "Float"}


def crate(folder: Path, *, date: str) -> dict[str, Any]:
    """Return the metadata of a run's crate, the content of ``ro-crate-metadata.json``.

    Parameters
    ----------
    folder : Path
        The results, with `provenance.json`, `config.yaml` and the workflow.
    date : str
        Day of the commit; "unknown" is refused.

    Raises
    ------
    DataError
        If there is no commit to name, or a result is missing or is not the one that the run recorded.
    """
    if date == "unknown":
        raise DataError(
            "the crate must name the code's commit and its day, but the project is no git checkout. Run the workflow "
            "from a clone, and ask for the target crate again."
        )
    record = read_json(folder / "provenance.json")
    made = ROCrate(version="1.1")
    made.name = f"segshuffle, edition {record['edition']}"
    made.description = "Figures, tables and verdicts of a run of segshuffle, and what they were made of"
    made.datePublished = date
    made.license = _add(made, LICENCE, "CreativeWork", name="MIT License")
    made.root_dataset["conformsTo"] = [
        _add(made, url, "CreativeWork", name=name, version=url.rpartition("/")[2]) for url, name in PROFILES.items()
    ]
    versions = record["versions"]
    packages = [
        _add(made, f"#{name}", "SoftwareApplication", name=name, softwareVersion=version)
        for name, version in versions.items()
    ]
    workflow = made.add_workflow(dest_path=WORKFLOW, main=True, lang="snakemake", lang_version=versions["snakemake"])
    workflow["name"] = "segshuffle"
    workflow["version"] = record["commit"]
    workflow["softwareRequirements"] = packages
    workflow["license"] = made.license

    used = [_data(made, name, source) for name, source in record["data"].items()]
    used.append(_file(made, folder, "config.yaml"))
    for key, value in read_yaml(folder / "config.yaml").items():
        slot = made.add_formal_parameter(key, TYPES.get(type(value), "Text"), identifier=f"#slot-{key}")
        workflow.append_to("input", slot)
        text = value if type(value) in TYPES else json.dumps(value)
        used.append(_add(made, f"#{key}-value", "PropertyValue", name=key, value=text, exampleOfWork=slot))
    results = [_file(made, folder, name, digest) for name, digest in record["outputs"].items()]
    results.append(_file(made, folder, "provenance.json"))
    action = made.add_action(workflow, "#run", object=used, result=results, properties={"name": f"{made.name}: run"})
    action["actionStatus"] = "http://schema.org/CompletedActionStatus"
    made.root_dataset["mentions"] = [action]
    metadata: dict[str, Any] = made.metadata.generate()
    return metadata


def _add(made: ROCrate, identifier: str, kind: str, **properties: Any) -> Entity:
    """Add something that is no file."""
    return made.add(ContextEntity(made, identifier, properties={"@type": kind, **properties}))


def _file(made: ROCrate, folder: Path, name: str, digest: str | None = None) -> Entity:
    """Add a file of the results with its size and hash."""
    path = folder / name
    sha256 = sha256_of(path) if path.is_file() else None
    if sha256 is None or sha256 != (digest or sha256):
        raise DataError(
            f"{path}: is missing, or is not the file that provenance.json records. Remove it, run the workflow, and "
            "ask for the target crate again."
        )
    return made.add_file(dest_path=name, properties={"sha256": sha256, "contentSize": str(path.stat().st_size)})


def _data(made: ROCrate, name: str, source: dict[str, Any]) -> Entity:
    """Add the data of a dataset, which are named by their hash; a stand-in is no file."""
    licence = _add(made, f"#licence-{name}", "CreativeWork", name=dataset_of(name).licence)
    said = {"name": dataset_label(name, source["kind"]), "description": source["origin"], "license": licence}
    if source["kind"] != "real":
        return _add(made, f"#data-{name}", "CreativeWork", **said | {"disambiguatingDescription": source["reason"]})
    entity = _add(made, f"hash://sha256/{source['sha256']}", "File", sha256=source["sha256"], **said)
    made.root_dataset.append_to("hasPart", entity)
    return entity
