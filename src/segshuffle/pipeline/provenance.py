"""What lies beside the results: their README, and a record of code, settings and data, with hashes of the results.

No time is recorded, so that the same run gives the same file.
"""

import json
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from segshuffle.datasets.registry import dataset_label, hashed_as
from segshuffle.files import sha256_of
from segshuffle.pipeline import manifest
from segshuffle.pipeline.design import Config, Panels, output_folder, without_paths
from segshuffle.pipeline.scenarios import scenarios

PACKAGES = ("segshuffle", "snakemake", "numpy", "scipy", "pandas", "matplotlib", "joblib")
#: What is made on the way and belongs to no study.
_AROUND = {
    "populations/": "the simulated users' items (npz)",
    "data/": "the data of every dataset and where they came from",
    "benchmarks/, logs/": "time, memory and output of every job",
}


def commit_of(root: Path) -> str:
    """Return the commit of the code in `root`, with -dirty if files differ; "unknown" outside a checkout of its own."""
    # naming the folder's own .git: a copy inside another repository would be given that one's commit
    command = ["git", f"--git-dir={root}/.git", f"--work-tree={root}", "describe", "--always", "--abbrev=40"]
    try:
        done = subprocess.run([*command, "--exclude=*", "--dirty"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def data_of(sources: Iterable[str]) -> dict[str, Any]:
    """Map every dataset to the source of its data, as its JSON file holds it."""
    return {Path(path).parent.name: json.loads(Path(path).read_text(encoding="utf-8")) for path in sources}


def data_words(data: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Say of every dataset whether its data are real, by the sources of `data_of`."""
    for name, source in data.items():
        label = dataset_label(name, "real")
        if source["kind"] == "real":
            yield f"{label}: the real data (SHA-256 of the {hashed_as(name)}file {source['sha256']})."
        else:
            yield f"{label}: a STAND-IN, not the real data, because {source['reason'].splitlines()[0]}"


def effective(*, config: Config) -> str:
    """Return the YAML text of the configuration without the place of data on this machine."""
    return yaml.safe_dump(without_paths(config), sort_keys=False)


def provenance(outputs: Sequence[str], sources: Sequence[str], *, config: Config, commit: str) -> str:
    """Return the JSON text of a run's provenance, newline at the end.

    Parameters
    ----------
    outputs : sequence of str
        Paths of the files to hash.
    sources : sequence of str
        Paths of the records of all data, ``data/NAME/source.json``.
    config : dict
        The configuration.
    commit : str
        As `commit_of` returns it.
    """
    versions = {package: metadata.version(package) for package in PACKAGES}
    root = output_folder(config)
    record = {
        "commit": commit,
        "edition": config["edition"],
        "seed": config["seed"],
        "versions": {"python": platform.python_version(), **versions},
        "data": data_of(sources),
        "outputs": {Path(path).relative_to(root).as_posix(): sha256_of(Path(path)) for path in sorted(outputs)},
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def files(config: Config, panels: Panels) -> dict[str, dict[str, str]]:
    """Map headings to names of files, and these to what they are; files with the same description share an entry."""
    found: dict[manifest.Group, dict[str, list[str]]] = {}
    kept = [target for target in manifest.targets(config, panels) if target.in_all]
    for output in (*manifest.RECORDS, *manifest.outputs(kept).values()):
        found.setdefault(output.group, {}).setdefault(output.title, []).append(output.path)
    sections = {
        group.title: {"`, `".join(paths): words for words, paths in found[group].items()}
        for group in sorted(found, key=lambda group: group.rank)
    }
    return {**sections, "Intermediate files": {**manifest.said("PARTS"), **_AROUND}}


def readme(sources: Sequence[str], *, config: Config) -> str:
    """Return the Markdown text of `README.md` beside the results, given the paths of the records of all data."""
    lines = ["# Results", ""]
    for sentence in data_words(data_of(sources)):
        lines += [sentence, ""]
    lines += [f"{config['repetitions']} repetitions, seed {config['seed']}.", "", "## Files", ""]
    lines += [f"figures/NAME stands for NAME.{', NAME.'.join(manifest.FORMATS)}.", ""]
    for heading, entries in files(config, scenarios(config)).items():
        lines += [f"### {heading}", "", *(f"- `{names}`: {words}" for names, words in entries.items()), ""]
    for table, columns in manifest.said("COLUMNS").items():
        lines += [f"## Columns of {table}", "", *(f"- `{name}`: {text}" for name, text in columns.items()), ""]
    return "\n".join(lines)
