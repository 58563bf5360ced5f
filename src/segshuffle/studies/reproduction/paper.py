"""The settings of the paper's section 6, and where a run departs from them: no verdict is given there."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import pandas as pd

from segshuffle.pipeline.design import Config
from segshuffle.pipeline.rows import common

#: What every panel has in common; the options of the competitors are those of docs/deviations.md.
COMMON: Config = {"delta_times_n": 0.01, "levels": [0.5, 1.0, 2.0]}
SPLITS = {"S1": [0.25, 0.5, 0.25], "S2": [0.5, 0.25, 0.25], "S3": [0.25, 0.25, 0.5]}
COMPETITORS: Config = {"balls_into_bins": {"analysis": "numerical"}, "subset_exponential": {"local_epsilon": 2.0}}
#: Range of m that the figures show, and the widest step between neighbours that tells a best m.
BLANKETS, WIDEST_STEP = (0.1, 10.0), 1.25


class Populations(NamedTuple):
    """The populations of a dataset."""

    domain_size: int
    n_users: tuple[int, ...]
    set_sizes: tuple[int, ...]
    source: str


POPULATIONS = {
    "msnbc": Populations(17, (5_000, 50_000), (4,), "real"),
    "synthetic": Populations(128, (5_000, 50_000), (4, 8), "synthetic"),
}


def departure(config: Mapping[str, Any], panel: Mapping[str, Any], rows: pd.DataFrame) -> str | None:
    """Why a panel is not the paper's, with the values on both sides; None if it is.

    Parameters
    ----------
    config : mapping
        Keys of `COMMON`, and splits.
    panel : mapping
        dataset, n_users, set_size and split.
    rows : DataFrame
        The panel's rows of results/mse.csv.
    """
    ours, theirs = POPULATIONS.get(panel["dataset"]), dict(COMMON)
    if ours is None:
        return f"the paper has no dataset {panel['dataset']}"
    found = {key: config[key] for key in COMMON}
    theirs |= {f"splits.{panel['split']}": SPLITS.get(panel["split"])}
    found |= {f"splits.{panel['split']}": config["splits"].get(panel["split"])}
    theirs |= {"domain_size": ours.domain_size, "data": ours.source}
    domain_size, source = common(rows, "domain_size", "source")
    found |= {"domain_size": int(domain_size), "data": str(source)}
    for key, value in theirs.items():
        if found[key] != value:
            return f"{key} is {found[key]}, the paper's is {value}"
    if panel["n_users"] not in ours.n_users or panel["set_size"] not in ours.set_sizes:
        return f"the paper has no panel with n = {panel['n_users']} and s = {panel['set_size']}"
    return _coarse(sorted(rows.loc[(rows["method"] == "segmented") & (rows["role"] == "grid"), "blanket_per_user"]))


def _coarse(blankets: list[float]) -> str | None:
    """Why a grid of m does not tell where the least error is."""
    if not blankets or blankets[0] > BLANKETS[0] or blankets[-1] < BLANKETS[1]:
        return f"the grid of m does not reach from {BLANKETS[0]:g} to {BLANKETS[1]:g}"
    step = max(high / low for low, high in pairwise(blankets))
    return None if step <= WIDEST_STEP else f"the grid of m has steps of a factor {step:.2g}, above {WIDEST_STEP:g}"


def other_options(config: Mapping[str, Any]) -> str:
    """Which options of the competitors are not those of the reproduction; empty if none."""
    found = {key: value for key, value in config["competitors"].items() if key in COMPETITORS}
    return "" if found == COMPETITORS else f"the competitors' options are {found}, the reproduction's {COMPETITORS}"
