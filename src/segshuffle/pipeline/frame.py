"""The parts of a run that belong to no study: data and users, records, and the page.

Every remote job parses the Snakefile, which imports this module. So it does not import numpy.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from segshuffle.datasets.registry import FOLDER as DATASETS
from segshuffle.datasets.registry import dataset_of, every
from segshuffle.pipeline import manifest
from segshuffle.pipeline.design import FIGURES, Config, Panels, Scenario, output_folder
from segshuffle.pipeline.manifest import Rule, Step

#: What is made where no dataset is a stand-in.
ONLY_REAL = "data/only-real.txt"


def is_paper(panel: Scenario) -> bool:
    """Return whether Figures 2-6 of the paper show the panel."""
    return any(panel.setting.dataset == name and panel.split in splits for name, splits in FIGURES.values())


def dataset_files(names: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Return, for `Rule.follows`, the files that jobs on these datasets use."""
    declared = [name for name in names if name in every()]
    texts = {path.stem: path.read_text(encoding="utf-8") for path in DATASETS.glob("*.py")}
    return {
        "datasets": frozenset(file for file, text in texts.items() if any(f'"{name}"' in text for name in declared))
    }


def refreshed(name: str, config: Config, *, look: bool) -> list[Path]:
    """Return the file that marks that real data have replaced a stand-in, if they have; the data are then made again.

    Real data are looked for only while a stand-in is used.
    """
    folder, dataset = Path(output_folder(config), "data", name), dataset_of(name)
    source, marker = folder / "source.json", folder / "refreshed"
    is_stand_in = source.is_file() and json.loads(source.read_text(encoding="utf-8"))["kind"] == "stand-in"
    if look and dataset.refresh and is_stand_in and dataset.refresh(config["datasets"][name], Path("data")):
        marker.touch()
    return [marker] if marker.exists() else []


def rules(
    config: Config,
    panels: Panels,
    studies: Sequence[Rule],
    *,
    given: Mapping[str, Path | None],
    looks: bool,
    commit: str,
) -> list[Rule]:
    """Return the rules that belong to no study.

    Parameters
    ----------
    config, panels
        As everywhere.
    studies : sequence of Rule
        Rules of all studies.
    given : mapping
        Dataset -> the user's own copy, or None.
    looks : bool
        Whether to look for real data in the place of a stand-in.
    commit : str
        Commit of the code.
    """
    sections = config["datasets"]
    targets = manifest.targets(config, panels)
    results = tuple(manifest.results(targets))
    settings = {panel.setting.id: panel.setting for panel in panels}
    paper = {panel.setting for panel in panels if is_paper(panel)}
    # those whose users are drawn from data
    names = tuple(name for name in sections if dataset_of(name).obtain)
    sources = [f"data/{name}/source.json" for name in names]

    def section_of(name: str) -> dict[str, Any]:
        """Return the keys that data and populations depend on: sizes and paths are left out."""
        return {key: value for key, value in sections[name].items() if key not in {"n_users", "set_sizes", "path"}}

    def watched(name: str) -> list[Path]:
        listed = sections[name].get("items")
        come = refreshed(name, config, look=looks and not given[name])
        return [*come, *([Path(listed)] if listed else [])]

    def data_of(case: str) -> dict[str, str]:
        name = settings[case].dataset
        return {"data": f"data/{name}/data.npy", "source": f"data/{name}/source.json"} if name in names else {}

    before = [
        Rule(
            "dataset",
            "The data of one dataset: a given file, the download, or the labelled stand-in.",
            (
                Step(
                    ("data/{case}/data.npy", "data/{case}/source.json"),
                    "pipeline.data:obtain",
                    lambda name: {"given": [path] if (path := given[name]) else [], "watched": watched(name)},
                    lambda name: {
                        "name": name,
                        "section": section_of(name),
                        "seed": config["seed"],
                        # without a network a small run goes on with the stand-in after ten seconds instead of thirty
                        "attempts": 3 if config["edition"] == "full" else 1,
                    },
                    read=False,
                ),
            ),
            names,
            priority=lambda name: any(setting.dataset == name for setting in paper),
            follows=lambda name: dataset_files([name]),
        ),
        Rule(
            "population",
            "Users of one setting: n users with exactly s items each.",
            (
                Step(
                    "populations/{case}.npz",
                    "pipeline.data:population",
                    data_of,
                    lambda case: {
                        "setting": settings[case],
                        "section": section_of(settings[case].dataset),
                        "seed": config["seed"],
                    },
                ),
            ),
            tuple(settings),
            priority=lambda case: settings[case] in paper,
            follows=lambda case: dataset_files([settings[case].dataset]),
        ),
    ]
    provenance = Rule(
        "provenance",
        "Versions, commit, seed, data source, hashes of figures, tables and verdicts; the configuration; a README.",
        (
            Step("config.yaml", "pipeline.provenance:effective", arguments={"config": config}),
            Step("README.md", "pipeline.results_readme:readme", {"sources": sources}, {"config": config}, read=False),
            Step(
                "provenance.json",
                "pipeline.provenance:provenance",
                {"outputs": results, "sources": sources},
                {"config": config, "commit": commit},
                read=False,
            ),
        ),
    )
    only_real = Rule(
        "only_real",
        "Check that the data of this run are real: otherwise nothing is copied to docs/.",
        (Step(ONLY_REAL, "pipeline.provenance:only_real", {"sources": sources}, read=False),),
        priority=lambda _: 2,
    )
    cases = {rule.name: rule.cases for rule in (*before, *studies)}
    runtimes = Rule(
        "runtimes",
        "How long every rule took, and the memory it needed, from the benchmarks of the jobs that ran.",
        (
            Step(
                "runtimes.csv",
                "pipeline.runtimes:runtimes",
                {"finished": results},
                {"folder": f"{output_folder(config)}/benchmarks", "cases": cases},
                read=False,
            ),
        ),
    )
    page = Rule(
        "page",
        "One page with all figures, interactive charts, tables and verdicts; opens in a browser without a network.",
        (
            Step(
                "index.html",
                "page.build:page",
                {
                    "tables": manifest.on_page(targets),
                    "figures": [path for path in results if path.endswith(".svg")],
                    "provenance": "provenance.json",
                    "config": "config.yaml",
                },
                read=False,
            ),
        ),
        seconds=20,
    )
    return [*before, *studies, provenance, runtimes, page, only_real]
