"""Every figure says what its table says, all of it, and can be read."""

import itertools

import numpy as np
import pandas as pd
import pytest
from reader import assert_draws, assert_readable, close, legend_texts, open_marks, points, room, shape, strokes, visible

from segshuffle.drawing.looks import ACCOUNTANTS as ACCOUNTANT_LOOKS
from segshuffle.drawing.looks import series_looks
from segshuffle.reproduction.studies.amplification import report as amplification
from segshuffle.reproduction.studies.audit import report as audit
from segshuffle.reproduction.studies.levels import report as levels
from segshuffle.reproduction.studies.limit import report as limit
from segshuffle.reproduction.studies.referee import report as referee

#: Populations of the paper's evaluation, and one more, sorted by no column: (dataset, n_users, set_size, domain_size).
SETTINGS = [("msnbc", 5000, 4, 17), ("synthetic", 50000, 16, 128), ("synthetic", 50000, 8, 128)]
SIZES = ["dataset", "n_users", "set_size", "domain_size"]


def titles(figure):
    return [axes.get_title() for axes in visible(figure)]


# --- one level against the curator -------------------------------------------------------------------------------


def test_limit_draws_every_curve():
    # out of order, with points that have no finite epsilon, and more curves than the paper has
    groups = [(s, delta) for s in (8, 4, 16) for delta in (2e-6, 2e-7)]
    table = pd.DataFrame(
        {"set_size": s, "delta": delta, "blanket_mean": mean, "error_ratio": 1 + s * (delta * 1e6) ** 0.1 / mean}
        for s, delta in groups
        for mean in (1e5, 1e3, 100.0, 30.0)
    )
    table.loc[len(table)] = {"set_size": 4, "delta": 2e-7, "blanket_mean": 10.0, "error_ratio": np.nan}
    figure = limit.draw(table)
    (axes,) = visible(figure)
    rows = table.dropna().sort_values("blanket_mean").groupby(["set_size", "delta"])[["blanket_mean", "error_ratio"]]
    curves = {f"$\\min(s, d - s)$ = {s}, $\\delta$ = {d:g}": curve.to_numpy() for (s, d), curve in rows}
    *found, near, _ = assert_draws(axes, *curves.values(), [(100.0, 1.05), (1e5, 1.05)], [(0, 1), (1, 1)])
    assert [line.get_label() for line in (*found, near)] == [*curves, "5 % above the curator"] == legend_texts(axes)
    assert len({line.get_marker() for line in found}) == len(curves) == 6, "told apart without colour"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert_readable(figure)


# --- private levels ----------------------------------------------------------------------------------------------


@pytest.mark.quick(0)
def test_levels_draws_every_split_with_its_errors():
    splits = ("S1", "S2", "S3", "S4")
    rows = [
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
    ]
    table = pd.DataFrame(rows)
    figure = levels.draw(table)
    looks = series_looks(splits)
    panels = visible(figure)
    assert titles(figure) == [
        "(a) MSNBC (stand-in): $n$ = 5,000, $d$ = 17, $s$ = 4",
        "(b) Synthetic: $n$ = 50,000, $d$ = 128, $s$ = 16",
        "(c) Synthetic: $n$ = 50,000, $d$ = 128, $s$ = 8",
    ]
    for axes, setting in zip(panels, SETTINGS, strict=True):
        series = []
        for i, split in enumerate(splits):
            mine = table[(table[SIZES] == list(setting)).all(axis=1) & (table["split"] == split)]
            curve = mine[mine["epsilon_levels"] < np.inf].sort_values("epsilon_levels")
            exact = mine.loc[mine["epsilon_levels"] == np.inf, "mse_predicted"].item()
            x, mean, error = curve["epsilon_levels"], curve["mse_mean"], 2 * curve["mse_stderr"]
            # splits stand side by side, with ends of bars
            series += [zip(x * 1.04 ** (i - 1.5), y, strict=True) for y in (mean, mean - error, mean + error)]
            series += [zip(x, curve["mse_predicted"], strict=True), [(0, exact), (1, exact)]]
        lines = assert_draws(axes, *series)
        assert [line.get_color() for line in lines] == [look.color for look in looks for _ in range(5)]
        assert [line.get_marker() for line in lines[::5]] == [look.marker for look in looks]
        assert [{line.get_linestyle() for line in lines[i::5]} for i in (3, 4)] == [{"-"}, {"--"}]
    assert shape(figure) == (2, 2)
    spans = [high / low for low, high in (axes.get_ylim() for axes in panels)]
    assert spans[:2] == pytest.approx([2.0, 2.0], rel=1e-9), "a small effect does not fill the panel"
    assert max(room(panels[2], "y")) < 0.1, "a large one does"
    for axes in panels[:2]:
        assert np.subtract(*room(axes, "y")) == pytest.approx(0.0, abs=0.1), "in the middle"
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in panels} == {("log", "log")}
    assert legend_texts(figure) == [
        "predicted",
        "exact histogram of levels",
        *(f"{split}, measured" for split in splits),
    ]
    assert_readable(figure)


# --- the audit ---------------------------------------------------------------------------------------------------


def audit_rows():
    """Yield rows of two levels and populations, and two splits of which the second is worse; one has no epsilon."""
    views = ("published", "blanket-only", "worst-split", "others-concentrated")
    for (j, setting), level, (k, view) in itertools.product(enumerate(SETTINGS[:2]), (0.5, 2.0), enumerate(views)):
        for m, split in itertools.product((0.5, 0.8, 1.0, 3.0), ("S1", "S2")):
            value = level * (1 + 0.01 * j + 0.1 * k) * (1.02 if split == "S2" else 1.0) + (
                9.0 if m == 3.0 else 0.01 * m
            )
            yield {
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
                "actual_user_epsilon": np.inf if (m, level, view) == (1.0, 2.0, "blanket-only") else value,
            }


@pytest.mark.quick(0)
def test_audit_draws_the_worst_split_of_every_level_and_view():
    table = pd.DataFrame(audit_rows())
    figure = audit.draw(table)
    views = {
        "blanket-only": "blanket alone (upper bound)",
        "worst-split": "all others send everything",
        "others-concentrated": "others as in the experiment, all with the same items",
    }
    worst, colors, none = table[table["split"] == "S2"], set(), "group privacy gives no $\\varepsilon$"
    assert titles(figure) == [
        "(a) MSNBC: $n$ = 5,000, $d$ = 17, $s$ = 4",
        "(b) Synthetic: $n$ = 50,000, $d$ = 128, $s$ = 16",
    ]
    for axes, setting in zip(visible(figure), SETTINGS, strict=False):
        mine = worst[(worst[SIZES] == list(setting)).all(axis=1) & (worst["sampling_rate"] < 1)]
        for place, level in enumerate((0.5, 2.0)):
            (claimed,) = [line for line in axes.lines if line.get_label() == f"$\\varepsilon$ = {level:g}, as claimed"]
            assert set(claimed.get_ydata()) == {level}
            colors.add(color := claimed.get_color())
            drawn = {line.get_label(): points(line) for line in strokes(axes, color=color) if line is not claimed}
            for view, label in views.items():
                rows = mine[(mine["view"] == view) & (mine["level"] == level)]
                # levels stand side by side
                at = {row.blanket_per_user * 1.06**place: row.actual_user_epsilon for row in rows.itertuples()}
                assert drawn.pop(label) == close(pair for pair in at.items() if np.isfinite(pair[1])), label
                for x in (x for x, value in at.items() if np.isinf(value)):
                    ((found, end),) = drawn.pop(none)
                    assert found == pytest.approx(x)
                    assert np.inf > end > table["actual_user_epsilon"].replace(np.inf, 0).max()
            assert drawn == {}, "nothing else is drawn"
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert len(colors) == 2
    claims = {f"$\\varepsilon$ = {level:g}, as claimed" for level in (0.5, 2.0)}
    assert set(legend_texts(figure)) == {*claims, *views.values(), none}
    assert_readable(figure)


# --- the referee -------------------------------------------------------------------------------------------------

REFEREED = {
    "blanket": "upper",
    "standard-clone": "upper",
    "hoeffding": "upper",
    "stronger-clone": "published",
    "variation-ratio": "published",
    "variation-ratio-closed-form": "published",
    "personalized": "published",
    "personalized-reduction": "published",
    "chen-cao-ge": "asymptotic",
    "liu-2023": "published",
    "bennett": "upper",
    "a-newcomer": "published",
    "never": "published",
}


#: A claim that is published in general, and proven for one mechanism.
PROVEN_HERE = ("krr-2", "variation-ratio-closed-form")


def referee_rows():
    cases = {"krr-2": "2-ary RR", "laplace-budgets": "Laplace, others'\nbudgets a tenth", "blh": "local hash"}
    cases |= {"quiet": "quiet"}
    grid = itertools.product(cases, (0.4, 2.0, 8.0), enumerate(REFEREED.items()), (1000, 10**6, 10**4))
    for case, local, (i, (name, kind)), n_users in grid:
        violated = (kind != "upper" or name == "bennett") and case != "quiet" and n_users == 1000 and i % 2 == 0
        vacuous = name == "never" or (name == "stronger-clone" and local == 8.0)
        yield {
            "case": case,
            "local_epsilon": local,
            "n_users": n_users,
            "asked": "epsilon",
            "target": 0.01 / n_users,
            "accountant": name,
            # proven where the victim has no left-over
            "kind": "upper" if (case, name) == PROVEN_HERE else kind,
            # proven over claimed
            "ratio": 1.02 + 0.001 * i if violated else 1 / (1.01 + 0.05 * i * i + 0.01 * local),
            "outcome": "violated" if violated else "holds",
            "vacuous": vacuous,
        } | ({"ratio": 1e-3} if vacuous or name == "hoeffding" else {})
        yield {"case": case, "asked": "delta", "accountant": name, "outcome": "violated", "vacuous": False}


#: References without marks: they are proven.
PLAIN = ("blanket", "standard-clone")


def test_referee_draws_every_claim_that_says_something():
    """A curve per accountant with its numbers, filled marks where it is violated, and nothing else."""
    table = pd.DataFrame(referee_rows())
    figure = referee.draw(table)
    cases = {"krr-2": "2-ary RR", "laplace-budgets": "Laplace, others'\nbudgets a tenth", "blh": "binary local hash"}
    asked = table[(table["asked"] == "epsilon") & table["case"].isin(cases) & ~table["vacuous"]]
    # a proven bound that holds is drawn only as a reference; claimed over proven, in percent above 1
    shown = asked[asked["accountant"] != "hoeffding"].sort_values("n_users")
    shown = shown.assign(above=100 * (1 / shown["ratio"] - 1))
    for axes, (case, local) in zip(visible(figure), itertools.product(cases, (0.4, 2.0, 8.0)), strict=True):
        zero, *lines = axes.lines
        assert set(zero.get_ydata()) == {0.0}
        lines = [line for line in lines if len(line.get_xdata())]
        rows = shown[(shown["case"] == case) & (shown["local_epsilon"] == local)]
        for name, mine in rows.groupby("accountant"):
            above, look = list(zip(mine["n_users"], mine["above"], strict=True)), ACCOUNTANT_LOOKS.get(name)
            (curve,) = [line for line in lines if points(line) == close(above) and line.get_linestyle() != "None"]
            lines.remove(curve)
            if name in PLAIN or (case, name) == PROVEN_HERE:
                assert curve.get_marker() == "None"
                continue
            broken = list(itertools.compress(above, mine["outcome"] == "violated"))
            marks = [line for line in lines if points(line) == close(broken) and line.get_linestyle() == "None"]
            assert len(marks) == bool(broken)
            lines = [line for line in lines if line not in marks]
            assert open_marks(curve)
            assert not any(map(open_marks, marks))
            if look:
                assert {(look.marker, look.color)} == {
                    (m.get_marker(), m.get_markeredgecolor()) for m in (curve, *marks)
                }
        assert lines == [], "nothing else is drawn"
        (refuted,) = axes.patches
        assert (refuted.get_y(), refuted.get_y() + refuted.get_height()) == (-150.0, 0.0)
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "symlog")
        low, high = axes.get_ylim()
        # the same for all panels; claims that say nothing do not count
        assert low == -150.0 < shown["above"].min()
        assert 2.9 < high / shown["above"].max() < 3.1
        assert 0 < min(room(axes, "x")) <= max(room(axes, "x")) < 0.1
    names = [name for name in ACCOUNTANT_LOOKS if name in REFEREED and name != "hoeffding"]
    marked = [line.get_marker() != "None" for line in figure.legends[0].get_lines()]
    assert marked == [name not in PLAIN for name in names] + [True, False, True], (
        "newcomer, what is proven, and what is violated"
    )
    labels = [ACCOUNTANT_LOOKS[name].label for name in names]
    assert legend_texts(figure) == [
        *(*labels, "a-newcomer"),
        *("without marks: proven", "filled: violated", "below what is proven"),
    ]
    assert [axes.get_title() for axes in figure.axes[:3]] == [f"$\\varepsilon_0$ = {e}" for e in ("0.4", "2", "8")]
    assert [axes.get_ylabel() for axes in figure.axes[::3]] == list(cases.values())
    assert [axes.get_xlabel() for axes in figure.axes if axes.get_xlabel()] == [
        "number of users $n$, at $\\delta$ = 0.01/$n$"
    ]
    assert_readable(figure)


# --- the amplification papers ------------------------------------------------------------------------------------

_BLANKETS = ("blanket", "blanket-lower")
_BOUNDS = (*_BLANKETS, "standard-clone", "hoeffding", "bennett")
_RATIOS = ("erlingsson", "stronger-clone", "tails-general", "tails-specific", "variation-lower", "variation-ratio")
_CLOSED = ("variation-ratio", "variation-ratio-closed-form", "variation-asymptotic")
_PARTS = ("separate-best", "separate-worst", "parallel-basic", "parallel-advanced")
_PERSONAL = ("personalized", "personalized-reduction", "chen-cao-ge", "liu-2023")
#: Name -> (panels, abscissa, ordinate, accountant -> curves), as many as in the papers.
FIGURES = {
    "decomposition2": (10, "local_epsilon", "epsilon", dict.fromkeys(_BOUNDS, ("RAPPOR",))),
    "decomposition3": (
        8,
        "local_epsilon",
        "epsilon",
        {"blanket": ("2-joint", "single"), **dict.fromkeys(_BOUNDS[1:], ("2-joint",))},
    ),
    "decomposition4": (2, "local_epsilon", "epsilon", dict.fromkeys(_BLANKETS, ("10-RR", "parallel", "BLH"))),
    "decomposition5": (2, "local_epsilon", "epsilon", {"blanket": tuple(f"$d = {2**k}$" for k in range(7))}),
    "decomposition8": (2, "value", "probability", {"gparv": ("Laplace",)}),
    "variation1": (4, "local_epsilon", "log2_ratio", dict.fromkeys((*_BLANKETS, *_RATIOS), ("subset",))),
    "variation3": (2, "claimed_epsilon", "log2_ratio", dict.fromkeys(_CLOSED, ("fake users",))),
    "variation5": (4, "local_epsilon", "log2_ratio", dict.fromkeys((*_BLANKETS, *_PARTS), ("range query",))),
    "personalized4": (
        4,
        "n_users",
        "epsilon",
        dict.fromkeys(("standard-clone", "hoeffding", "bennett"), ("largest budget",))
        | dict.fromkeys(_PERSONAL, ("Uniform1", "Gauss1")),
    ),
}


def amplification_table(name):
    count, x_name, y_name, curves = FIGURES[name]
    grid = {"n_users": (1e3, 1e4, 1e5), "value": (-80.0, 0.0, 1.2)}.get(x_name, (0.1, 1.0, 5.0))
    return pd.DataFrame(
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


def assert_legend_has_all(figure, curves, mechanisms):
    """Check that the legend has every accountant and mechanism, each text once; one curve needs no legend."""
    assert len(figure.legends) == (sum(map(len, curves.values())) > 1)
    if not figure.legends:
        return
    entries = dict(zip(legend_texts(figure), figure.legends[0].get_lines(), strict=True))
    for look in mechanisms:
        entry = entries.pop(look.label)
        assert (entry.get_color(), entry.get_linestyle()) == (look.color, "-")
    if mechanisms:
        assert {text: line.get_linestyle() for text, line in entries.items()} == {
            ACCOUNTANT_LOOKS[each].label: "--" if each.endswith("lower") else "-" for each in curves
        }
        return
    assert len(entries) == sum(map(len, curves.values()))
    for accountant, names in curves.items():
        look = ACCOUNTANT_LOOKS[accountant]
        mine = [line for text, line in entries.items() if text.startswith(look.label.split(" (")[0])]
        assert len(mine) >= len(names)
        assert any(line.get_color() == look.color for line in mine)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", FIGURES)
def test_amplification_draws_every_curve(name):
    table = amplification_table(name)
    figure = amplification.draw(table)
    count, _, _, curves = FIGURES[name]
    assert titles(figure) == [f"({'abcdefghij'[p]}) approximate, $n = 10^{p}$" for p in range(count)]
    assert shape(figure) == (count // 2, 2)
    assert [bool(axes.get_xlabel()) for axes in visible(figure)] == [False] * (count - 2) + [True] * 2
    assert [bool(axes.get_ylabel()) for axes in visible(figure)] == [True, False] * (count // 2)
    # more than two curves of an accountant have colours of their own
    mechanisms = series_looks(curves["blanket"]) if len(curves.get("blanket", ())) > 2 else []
    for p, axes in enumerate(visible(figure)):
        rows = table[table["panel"] == f"approximate, $n = 10^{p}$"]
        assert len(axes.lines) == sum(map(len, curves.values()))
        lower = {}
        for (accountant, curve), mine in rows.groupby(["accountant", "curve"]):
            (line,) = [line for line in axes.lines if points(line) == list(zip(mine["x"], mine["y"], strict=True))]
            lower[axes.lines.index(line)] = accountant.endswith("lower")
            if mechanisms:
                look = next(each for each in mechanisms if each.label == curve)
                assert (line.get_linestyle() == "-") == (not accountant.endswith("lower"))
                assert line.get_marker() == ("None" if accountant.endswith("lower") else look.marker)
            else:
                look = ACCOUNTANT_LOOKS[accountant]
                assert line.get_marker() == (look.marker or "None")
                outlined = accountant in ("variation-ratio", "parallel-advanced")
                assert outlined == (line.get_markerfacecolor() == "none")
                second = len(curves[accountant]) > 1 and curve == curves[accountant][1]
                assert second == (line.get_markerfacecolor() == "white")
            assert line.get_color() == look.color
        assert [lower[i] for i in sorted(lower)] == sorted(lower.values()), "lower bounds are on top"
        sizes = [line.get_markersize() for line in axes.lines if line.get_marker() != "None"]
        assert all(1.0 <= size <= 10.0 for size in sizes)
        if name == "decomposition5":
            assert len(set(sizes)) == len(sizes), "marks of one place lie within each other"
    assert_legend_has_all(figure, curves, mechanisms)
    assert_readable(figure)
