"""The README in the folder of results: the meaning of each file, and of each column of the tidy table."""

from collections.abc import Sequence

from segshuffle.datasets.registry import dataset_label, hashed_as
from segshuffle.pipeline import manifest
from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.provenance import data_of
from segshuffle.pipeline.scenarios import scenarios

#: What is made on the way and belongs to no study.
_AROUND = {
    "populations/": "the simulated users' items (npz)",
    "data/": "the data of every dataset and where they came from",
    "benchmarks/, logs/": "time, memory and output of every job",
}


def files(config: Config, panels: Panels) -> dict[str, dict[str, str]]:
    """Map headings to names of files, and these to their descriptions; equal descriptions share an entry."""
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
    for name, source in data_of(sources).items():
        label = dataset_label(name, "real")
        if source["kind"] == "real":
            lines += [f"{label}: the real data (SHA-256 of the {hashed_as(name)}file {source['sha256']}).", ""]
        else:
            reason = str(source["reason"]).splitlines()[0]
            lines += [f"{label}: a **stand-in**, not the real data, because {reason}", ""]
    lines += [f"{config['repetitions']} repetitions, seed {config['seed']}.", "", "## Files", ""]
    lines += [f"figures/NAME stands for NAME.{', NAME.'.join(manifest.FORMATS)}.", ""]
    for heading, entries in files(config, scenarios(config)).items():
        lines += [f"### {heading}", "", *(f"- `{names}`: {words}" for names, words in entries.items()), ""]
    for table, columns in manifest.said("COLUMNS").items():
        lines += [f"## Columns of {table}", "", *(f"- `{name}`: {text}" for name, text in columns.items()), ""]
    return "\n".join(lines)
