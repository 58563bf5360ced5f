"""Every number of a table is a point of its figure, in the right panel, and the figure can be read."""

import itertools

import numpy as np
import pandas as pd
import pytest
from reader import assert_readable, close, points, visible

from segshuffle.drawing.looks import ACCOUNTANTS as LOOKS
from segshuffle.drawing.looks import series_looks
from segshuffle.reproduction.studies.amplification import report as amplification
from segshuffle.reproduction.studies.audit import report as audit
from segshuffle.reproduction.studies.levels import report as levels
from segshuffle.reproduction.studies.limit import report as limit
from segshuffle.reproduction.studies.referee import report as referee

#: Populations of the paper's evaluation, and one more, sorted by no column: (dataset, n_users, set_size, domain_size).
SETTINGS = [("msnbc", 5000, 4, 17), ("synthetic", 50000, 16, 128), ("synthetic", 50000, 8, 128)]
SIZES = ["dataset", "n_users", "set_size", "domain_size"]

# Every case gives a figure and, for each panel, its title and its lines: (label or color of a line, points).


def of_limit():
    """Curves out of order, a point without a finite epsilon, and more curves than the paper has."""
    groups = [(s, delta) for s in (8, 4, 16) for delta in (2e-6, 2e-7)]
    table = pd.DataFrame(
        {"set_size": s, "delta": delta, "blanket_mean": mean, "error_ratio": 1 + s * (delta * 1e6) ** 0.1 / mean}
        for s, delta in groups
        for mean in (1e5, 1e3, 100.0, 30.0)
    )
    table.loc[len(table)] = {"set_size": 4, "delta": 2e-7, "blanket_mean": 10.0, "error_ratio": np.nan}
    rows = table.dropna().sort_values("blanket_mean").groupby(["set_size", "delta"])[["blanket_mean", "error_ratio"]]
    lines = [({"label": f"$\\min(s, d - s)$ = {s}, $\\delta$ = {d:g}"}, row.to_numpy()) for (s, d), row in rows]
    lines += [({"label": "5 % above the curator"}, [(100.0, 1.05), (1e5, 1.05)]), ({}, [(0, 1), (1, 1)])]
    yield limit.draw(table)
    yield "One level, every item sent once: same $(\\epsilon, \\delta)$", lines


def of_levels():
    splits = ("S1", "S2", "S3", "S4")
    table = pd.DataFrame(
        {
            **dict(zip(SIZES, setting, strict=True)),
            "split": split,
            "epsilon_levels": epsilon,
            # in the last population the privacy of the levels costs much
            "mse_mean": (1.3e-4 + 1e-5 * i) / (j + 1) * ((9.0 if j == 2 else 1.1) if epsilon < 1 else 1.0),
            "mse_stderr": 1e-6 * (1 + i),
            "mse_predicted": (1.2e-4 + 1e-5 * i) / (j + 1),
            "source": "stand-in" if setting[0] == "msnbc" else "synthetic",
        }
        for j, setting in enumerate(SETTINGS)
        for i, split in enumerate(splits)
        for epsilon in (4.0, 0.02, 0.2, np.inf)
    )
    yield levels.draw(table)
    titles = [
        "(a) MSNBC (stand-in): $n$ = 5,000, $d$ = 17, $s$ = 4",
        "(b) Synthetic: $n$ = 50,000, $d$ = 128, $s$ = 16",
        "(c) Synthetic: $n$ = 50,000, $d$ = 128, $s$ = 8",
    ]
    for title, (_, panel) in zip(titles, table.groupby(SIZES, sort=False), strict=True):
        lines = []
        for i, look in enumerate(series_looks(splits)):
            mine = panel[panel["split"] == look.label].sort_values("epsilon_levels")
            exact, curve = mine["mse_predicted"].iloc[-1], mine.iloc[:-1]
            x, mean, error = curve["epsilon_levels"], curve["mse_mean"], 2 * curve["mse_stderr"]
            # splits stand side by side, with ends of bars
            series = [zip(x * 1.04 ** (i - 1.5), y, strict=True) for y in (mean, mean - error, mean + error)]
            series += [zip(x, curve["mse_predicted"], strict=True), [(0, exact), (1, exact)]]
            lines += [({"color": look.color}, each) for each in series]
        yield title, lines


def of_audit():
    """Two levels and populations, and two splits of which the second is worse; some points have no epsilon."""
    views = {
        "blanket-only": "blanket alone (upper bound)",
        "worst-split": "all others send everything",
        "others-concentrated": "others as in the experiment, all with the same items",
        "published": "",
    }
    table = pd.DataFrame(
        {
            **dict(zip(SIZES, setting, strict=True)),
            "split": split,
            "blanket_per_user": m,
            "optimum": False,
            "level": level,
            "claimed_user_epsilon": level,
            "target_delta": 1e-6,
            "proven_user_delta": 0.0,
            "reachable": True,
            "view": view,
            # at m = 3 the second level sends everything
            "sampling_rate": 1.0 if m == 3.0 and level == 2.0 else 0.5,
            "actual_user_epsilon": np.inf
            if (m, level, view) == (1.0, 2.0, "blanket-only")
            else level * (1 + 0.01 * j + 0.1 * k) * (1.02 if split == "S2" else 1.0) + (9.0 if m == 3.0 else 0.01 * m),
        }
        for j, setting in enumerate(SETTINGS[:2])
        for level in (0.5, 2.0)
        for k, view in enumerate(views)
        for m in (0.5, 0.8, 1.0, 3.0)
        for split in ("S1", "S2")
    )
    yield audit.draw(table)
    shown = table[(table["split"] == "S2") & (table["sampling_rate"] < 1) & (table["view"] != "published")]
    known = shown["actual_user_epsilon"].replace(np.inf, np.nan)
    shown = shown.assign(shown=known.fillna(1.5 * known.max()))
    titles = ["(a) MSNBC: $n$ = 5,000, $d$ = 17, $s$ = 4", "(b) Synthetic: $n$ = 50,000, $d$ = 128, $s$ = 16"]
    for title, (_, panel) in zip(titles, shown.groupby(SIZES, sort=False), strict=True):
        lines = [({"label": f"$\\varepsilon$ = {e:g}, as claimed"}, [(0, e), (1, e)]) for e in (0.5, 2.0)]
        for (level, view, lost), rows in panel.groupby(["level", "view", np.isinf(panel["actual_user_epsilon"])]):
            label = "group privacy gives no $\\varepsilon$" if lost else views[view]
            # levels stand side by side
            x = rows["blanket_per_user"] * (1.06 if level == 2.0 else 1.0)
            lines.append(({"label": label}, zip(x, rows["shown"], strict=True)))
        yield title, lines


REFEREED = {
    "blanket": "upper",
    "standard-clone": "upper",
    "hoeffding": "upper",
    "stronger-clone": "published",
    "variation-ratio": "published",
    "variation-ratio-closed-form": "published",
    "personalized": "published",
    "chen-cao-ge": "asymptotic",
    "bennett": "upper",
    "a-newcomer": "published",
    "never": "published",
}


def of_referee():
    """Claims in percent above what is proven; violated ones once more; what is proven and holds only as a reference."""
    table = pd.DataFrame(
        {
            "case": case,
            "local_epsilon": local,
            "n_users": n_users,
            "asked": asked,
            "target": 0.01 / n_users,
            "accountant": name,
            "kind": kind,
            # proven over claimed
            "ratio": 1.02 + 0.001 * i if violated else 1 / (1.01 + 0.05 * i * i + 0.01 * local),
            "outcome": "violated" if violated else "holds",
            "vacuous": name == "never" or (name == "stronger-clone" and local == 8.0),
        }
        for case, local, (i, (name, kind)), n_users, asked in itertools.product(
            ("krr-2", "blh", "quiet"), (0.4, 2.0), enumerate(REFEREED.items()), (1e3, 1e6, 1e4), ("epsilon", "delta")
        )
        for violated in [(kind != "upper" or name == "bennett") and case != "quiet" and n_users == 1e3 and i % 2 == 0]
    )
    yield referee.draw(table)
    shown = table[(table["asked"] == "epsilon") & (table["case"] != "quiet") & ~table["vacuous"]]
    shown = shown[shown["accountant"] != "hoeffding"].sort_values("n_users")
    shown = shown.assign(above=100 * (1 / shown["ratio"] - 1))
    for row, case in enumerate(("krr-2", "blh")):
        for local in (0.4, 2.0):
            lines = [({}, [(0, 0), (1, 0)])]
            mine = shown[(shown["case"] == case) & (shown["local_epsilon"] == local)]
            for name, rows in mine.groupby("accountant"):
                look = {"color": LOOKS[name].color} if name in LOOKS else {}
                broken = rows[rows["outcome"] == "violated"]
                lines += [(look, each[["n_users", "above"]].to_numpy()) for each in (rows, broken) if len(each)]
            yield "" if row else f"$\\varepsilon_0$ = {local:g}", lines


_BLANKETS = ("blanket", "blanket-lower")
_BOUNDS = (*_BLANKETS, "standard-clone", "hoeffding", "bennett")
#: Name -> (panels, abscissa, ordinate, accountant -> curves), as many as in the papers.
FIGURES = {
    "decomposition2": (10, "local_epsilon", "epsilon", dict.fromkeys(_BOUNDS, ("RAPPOR",))),
    "decomposition4": (2, "local_epsilon", "epsilon", dict.fromkeys(_BLANKETS, ("10-RR", "parallel", "BLH"))),
    "decomposition5": (2, "local_epsilon", "epsilon", {"blanket": tuple(f"$d = {2**k}$" for k in range(7))}),
    "decomposition8": (2, "value", "probability", {"gparv": ("Laplace",)}),
    "variation3": (2, "claimed_epsilon", "log2_ratio", dict.fromkeys(("variation-ratio", "gparv"), ("fake users",))),
    "personalized4": (2, "n_users", "epsilon", dict.fromkeys(("personalized", "liu-2023"), ("Uniform1", "Gauss1"))),
}


def of_amplification(name):
    count, x_name, y_name, curves = FIGURES[name]
    grid = {"n_users": (1e3, 1e4, 1e5), "value": (-80.0, 0.0, 1.2)}.get(x_name, (0.1, 1.0, 5.0))
    table = pd.DataFrame(
        {
            "panel": f"approximate, $n = 10^{p}$",
            "curve": curve,
            "accountant": accountant,
            "x_name": x_name,
            "x": x,
            "y_name": y_name,
            "y": (2 + j) * 1e-3 * 3.0**k / (1 + 0.1 * i + 0.01 * p),
        }
        for p in range(count)
        for i, (accountant, names) in enumerate(curves.items())
        for j, curve in enumerate(names)
        for k, x in enumerate(grid)
    )
    yield amplification.draw(table)
    # more than two curves of an accountant have colours of their own
    many = curves.get("blanket", ())
    colors = {look.label: look.color for look in series_looks(many)} if len(many) > 2 else {}
    for letter, (panel, rows) in zip("abcdefghij", table.groupby("panel", sort=False), strict=False):
        lines = rows.groupby(["accountant", "curve"])[["x", "y"]]
        yield (
            f"({letter}) {panel}",
            [
                ({"color": colors.get(curve, LOOKS[accountant].color)}, line.to_numpy())
                for (accountant, curve), line in lines
            ],
        )


CASES = {"limit": of_limit, "levels": of_levels, "audit": of_audit, "referee": of_referee}
CASES |= {name: lambda name=name: of_amplification(name) for name in FIGURES}


@pytest.mark.quick("limit", "referee", "decomposition4")
@pytest.mark.parametrize("case", CASES)
def test_every_number_of_the_table_is_a_point_of_the_figure(case):
    figure, *panels = CASES[case]()
    assert [axes.get_title() for axes in visible(figure)] == [title for title, _ in panels]
    for axes, (_, wanted) in zip(visible(figure), panels, strict=True):
        lines = [line for line in axes.lines if len(line.get_xdata())]
        for look, series in wanted:
            expected = close(series)
            alike = [line for line in lines if all(getattr(line, f"get_{key}")() == look[key] for key in look)]
            lines.remove(next(line for line in alike if points(line) == expected))
        assert lines == [], "nothing else is drawn"
    assert_readable(figure)
