"""The words for readers who do not see a figure say what its table says: by hand, and number by number."""

import numpy as np
import pandas as pd

from segshuffle.reproduction.studies.levels.report import description as levels
from segshuffle.reproduction.studies.limit.report import description as limit
from segshuffle.reproduction.studies.panels.report import description as reproduction

POPULATIONS = (("msnbc", 5000, 4, 17), ("synthetic", 50000, 8, 128))
SIZES = ("dataset", "n_users", "set_size", "domain_size")


def test_levels_says_the_range_over_the_error_without_private_levels():
    rows = [
        {**dict(zip(SIZES, population, strict=True)), "split": split, "epsilon_levels": epsilon, "mse_mean": mean}
        for population, exact in zip(POPULATIONS, (2e-4, 1e-5), strict=True)
        for split, ratio in (("S1", 1.0), ("S2", 1.5))
        for epsilon, mean in ((np.inf, exact), (4.0, exact * ratio), (0.5, exact * (2 + ratio + 100 * exact)))
    ]
    table = pd.DataFrame(rows)
    halves = {f"levels/{name}.csv": table[table["dataset"] == name] for name in ("msnbc", "synthetic")}
    said = levels("levels", halves | {"mse.csv": pd.DataFrame()})
    assert said.endswith("at each ε of the levels: 0.5: 3.00 to 3.52; 4: 1.00 to 1.50.")


def test_limit_says_where_the_ratio_begins_and_what_is_left():
    table = pd.DataFrame(
        [(4, 2e-6, 10.0, 1.5), (4, 2e-6, 100.0, 1.01), (8, 2e-6, 99.0, 1.2), (8, 2e-7, 1000.0, 1.03121)],
        columns=["set_size", "delta", "blanket_mean", "error_ratio"],
    )
    table.loc[len(table)] = (8, 2e-7, 1.0, np.nan)
    said = limit("limit", {"limit.csv": table})
    assert "per item, 3 curves" in said
    assert said.endswith("The ratio falls from 1.50 towards 1. From 100 messages per item on it is at most 1.032.")


def errors():
    """Yield two panels: the paper's protocol over m, two competitors, and ours."""
    for i, (population, split) in enumerate([(POPULATIONS[0], "S2"), (POPULATIONS[0], "S3")], start=1):
        head = dict(zip(SIZES, population, strict=True)) | {"split": split, "source": "real", "parameters": "{}"}
        # the least expected error is not the least measured one; the table is not in the order of m
        for accounting, method, role, m, mean, expected in (
            ("published", "segmented", "grid", 8.0, 4e-4, 5e-4),
            ("published", "segmented", "grid", 0.5, 9e-4, 8e-4),
            ("published", "segmented", "grid", 2.0, 3e-4, 2e-4),
            ("published", "segmented", "grid", 4.0, 2.5e-4, 3e-4),
            ("published", "segmented", "best", 2.1, 1e-4, 1e-4),
            ("published", "separation", "best", 1.0, 6e-4, 7e-4 * i),
            ("published", "max-min", "best", 1.0, 8e-4, 6e-4 * i),
            ("proven", "poisson", "grid", 3.0, 1.5e-4, 1.4e-4),
            ("proven", "poisson", "grid", 6.0, 1.6e-4, 1.3e-4),
        ):
            numbers = {"blanket_per_user": m, "mse_mean": i * mean, "mse_expected": expected}
            yield head | {"accounting": accounting, "method": method, "role": role} | numbers


def test_panels_say_the_least_and_the_rivals():
    table = pd.DataFrame(errors())
    said = reproduction("fig4", {"mse.csv": table})
    assert "(b) MSNBC, S3: n = 5,000, d = 17, s = 4. Least errors: Segmented (the paper's): 6.0e-4 at m = 2. " in said
    assert said.endswith("Horizontal lines, lowest expected error first: max-min: 0.0016; separation: 0.0012.")
    said = reproduction("fig4-proven", {"mse.csv": table})
    assert "6.0e-4 at m = 2;" in said
    assert said.partition("Horizontal lines")[0].endswith("1.6e-4 at m = 6. ")
    assert all(reproduction(name, {"mse.csv": table}) is None for name in ("fig3", "fig4-prove", "fig5", "summary"))
