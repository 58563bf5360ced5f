"""The parts of a run that belong to no study: data and users, records, and the page.

Every remote job parses the Snakefile, which imports this module. So it does not import numpy.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from segshuffle.datasets.registry import dataset_of
from segshuffle.pipeline import manifest
from segshuffle.pipeline.design import FIGURES, Config, Panels, figures_of, output_folder
from segshuffle.pipeline.manifest import Rule, Step


def paper_first(panels: Panels) -> Callable[[str], bool]:
    """Return a function that says whether Figures 2-6 need a case.

    A case is the name of a dataset, setting, panel or figure, perhaps with the accounting and a slash before it.
    """
    drawn = [panel for name in FIGURES for panel in figures_of(panels).get(name, [])]
    needed = {name for panel in drawn for name in (panel.setting.dataset, panel.setting.id, panel.id)} | set(FIGURES)
    return lambda case: not case.startswith("proven/") and case.rpartition("/")[2] in needed


def refreshed(name: str, config: Config, *, look: bool) -> list[Path]:
    """Return a marker file if real data have replaced a stand-in, so that the data are made again; else nothing.

    The real data are looked for only while a stand-in is in use.
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
    """Return all rules: those of the studies, and those that belong to no study.

    Parameters
    ----------
    config, panels
        The configuration and its panels.
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
    first = paper_first(panels)
    # datasets whose users are drawn from data
    names = tuple(name for name in sections if dataset_of(name).obtain)
    sources = [f"data/{name}/source.json" for name in names]

    def section_of(name: str) -> dict[str, Any]:
        """Return the keys that data and populations depend on: all but n_users, set_sizes and path."""
        return {key: value for key, value in sections[name].items() if key not in {"n_users", "set_sizes", "path"}}

    def watched(name: str) -> list[Path]:
        come = refreshed(name, config, look=looks and not given[name])
        return [*come, *([Path(listed)] if (listed := sections[name].get("items")) else [])]

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
                    },
                    read=False,
                ),
            ),
            names,
            priority=first,
            follows=lambda name: {"datasets": [name]},
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
            priority=first,
            follows=lambda case: {"datasets": [settings[case].dataset]},
        ),
    ]
    provenance = Rule(
        "provenance",
        "Versions, commit, seed, data source, hashes of figures, tables and verdicts; the configuration; a README.",
        (
            Step("config.yaml", "pipeline.provenance:effective", arguments={"config": config}),
            Step("README.md", "pipeline.provenance:readme", {"sources": sources}, {"config": config}, read=False),
            Step(
                "provenance.json",
                "pipeline.provenance:provenance",
                {"outputs": results, "sources": sources},
                {"config": config, "commit": commit},
                read=False,
            ),
        ),
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
    return [*before, *studies, provenance, runtimes, page]
