"""Scenarios of the paper: which populations, which level splits, which panels of which figure.

Every remote job parses the Snakefile, which imports this module. So it uses only the standard library.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Config = dict[str, Any]

#: The two kinds of accounting: privacy numbers as the papers state them, or as they are proven.
ACCOUNTINGS = ("published", "proven")
#: Figure -> (dataset, splits), as in the paper; panels run over splits, then set sizes, then numbers of users.
FIGURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "fig2": ("msnbc", ("S1",)),
    "fig3": ("synthetic", ("S1",)),
    "fig4": ("msnbc", ("S2", "S3")),
    "fig5": ("synthetic", ("S2",)),
    "fig6": ("synthetic", ("S3",)),
}


# named tuples: of other objects Snakemake does not notice a change in the params of a rule
class Setting(NamedTuple):
    """A population: a dataset with n_users users who hold set_size of domain_size items."""

    dataset: str
    n_users: int
    set_size: int
    domain_size: int

    @property
    def id(self) -> str:
        """Stable name for files and streams."""
        return f"{self.dataset}-n{self.n_users}-s{self.set_size}"


class Scenario(NamedTuple):
    """A panel: a setting and a split of its users over the levels."""

    setting: Setting
    split: str

    @property
    def id(self) -> str:
        """Stable name for files and streams."""
        return f"{self.setting.id}-{self.split}"


#: All panels of a run, or some, in the order of the figures.
Panels = Sequence[Scenario]


def output_folder(config: Config) -> str:
    """Return where a run writes, relative to its directory: a quick run never overwrites a full one."""
    return "results" if config["edition"] == "full" else f"results/{config['edition']}"


def figures_of(every: Panels) -> dict[str, list[Scenario]]:
    """Map figures to panels, in the paper's order; other panels get a figure per dataset and split."""
    figures = {
        name: [panel for split in splits for panel in every if (panel.setting.dataset, panel.split) == (dataset, split)]
        for name, (dataset, splits) in FIGURES.items()
    }
    shown = {panel for panels in figures.values() for panel in panels}
    for panel in every:
        if panel not in shown:
            figures.setdefault(f"panels-{panel.setting.dataset}-{panel.split}", []).append(panel)
    return {name: panels for name, panels in figures.items() if panels}


def grid_of(config: Config, dataset: str) -> Config:
    """Return the grid of m of a dataset: its own, or else that of all datasets."""
    grid: Config = config["datasets"][dataset].get("blanket_grid", config["blanket_grid"])
    return grid


def blanket_grid(grid: Config) -> list[float]:
    """List m of the points of a curve: log-spaced, with the values to include, rounded to four significant digits."""
    low, high, points = math.log(grid["low"]), math.log(grid["high"]), grid["points"]
    values = {math.exp(low + (high - low) * i / (points - 1)) for i in range(points)} | set(grid["include"])
    return sorted({float(f"{value:.4g}") for value in values})


def level_deltas(config: Mapping[str, Any], n_users: int) -> tuple[float, ...]:
    """Return the delta of every level, where the configuration has one for each; else empty."""
    given = config["delta_times_n"]
    return tuple(each / n_users for each in given) if isinstance(given, list) else ()


def least_delta(config: Mapping[str, Any], n_users: int) -> float:
    """Return the delta of all levels, or the smallest of them, for code that uses only one delta."""
    deltas = level_deltas(config, n_users)
    return min(deltas) if deltas else float(config["delta_times_n"] / n_users)


def without_paths(config: Config) -> Config:
    """Return a copy of the configuration for records, without the paths of data on this machine."""
    hidden = {
        name: {key: None if key in ("path", "items") else value for key, value in section.items()}
        for name, section in config["datasets"].items()
    }
    return {**config, "datasets": {**config["datasets"], **hidden}}
