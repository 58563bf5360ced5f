"""The figures of the panels say what their table says, all of it, and can be read."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from reader import assert_readable, close, complaints, legend_texts, points, room, shape, strokes, visible

from segshuffle.drawing.looks import METHODS as LOOKS
from segshuffle.drawing.looks import PALETTE, label_of, spare_look
from segshuffle.plans.registry import every
from segshuffle.reproduction.design import Scenario, Setting, figures_of
from segshuffle.reproduction.studies.panels.report import draw

GRID = (3.0, 0.1, 10.0)
#: Settings of the experiment with the longest names that there are.
PANELS = [
    Scenario(Setting(dataset, n, s, d), split)
    for (dataset, n, s, d), split in itertools.product(
        [("msnbc", 5000, 4, 17), ("synthetic", 50000, 8, 128)], ("S2", "S3")
    )
]
#: (accounting, name) of every method that is declared, and of one that is not.
METHODS = [*every(), ("published", "a-newcomer"), ("proven", "a-newcomer")]
CURVES = [key for key in METHODS if key in every() and every()[key].role == "curve"]
BUDGETED = [("proven", "poisson"), ("proven", "poisson-copies")]


def rows():
    """Yield rows whose numbers are all different, so that a test sees whatever is mixed up."""
    counter = itertools.count()
    for panel, (accounting, method) in itertools.product(PANELS, METHODS):
        setting = panel.setting
        points_ = [("best", 1.5)]
        points_ += [("grid", m) for m in GRID] if (accounting, method) in CURVES else []
        points_ += [("budget", m) for m in (8.0, 1.0)] if (accounting, method) in BUDGETED else []
        for role, m in points_:
            i = next(counter)
            yield {
                "accounting": accounting,
                "dataset": setting.dataset,
                "n_users": setting.n_users,
                "set_size": setting.set_size,
                "domain_size": setting.domain_size,
                "split": panel.split,
                "method": method,
                "role": role,
                "blanket_per_user": m,
                "messages_per_user": 1.0 + m + 0.001 * i,
                "mse_mean": 1e-4 * (1 + 0.01 * i),
                "mse_stderr": 1e-6 * (1 + 0.01 * i),
                "mse_expected": 2e-4 * (1 + 0.003 * i) * (3.0 if role == "budget" and m == 1.0 else 1.0),
                "source": "stand-in" if setting.dataset == "msnbc" else "synthetic",
                "parameters": '{"local_epsilon": 2.0}',
            }


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame(rows())


def of(table, panel, accounting=None):
    key = [panel.setting.dataset, panel.setting.n_users, panel.setting.set_size, panel.split]
    chosen = (table[["dataset", "n_users", "set_size", "split"]] == key).all(axis=1)
    return table[chosen & ((table["accounting"] == accounting) | (accounting is None))]


def label(key):
    accounting, name = key
    return label_of(name, accounting, '{"local_epsilon": 2.0}')


def assert_looks(line, key):
    spare = [each for each in METHODS if each[1] not in LOOKS[each[0]]]
    look = spare_look("", spare.index(key)) if key in spare else LOOKS[key[0]][key[1]]
    assert (line.get_color(), line.get_marker()) == (look.color, look.marker), key


def bands(axes):
    """Return the lowest and highest ordinate of every band."""
    ends = [path.vertices[:, 1] for each in axes.collections for path in each.get_paths()]
    return [(float(y.min()), float(y.max())) for y in ends]


@pytest.mark.quick(1)
@pytest.mark.parametrize("accounting", ["published", "proven"])
def test_errors_draws_every_method_with_its_band(table, accounting):
    figure = draw(table, accounting, "errors")
    shown = [key for key in METHODS if key[0] == accounting]
    # proven figures also have the paper's curve
    paper = [] if accounting == "published" else [("published", "segmented")]
    for axes, panel in zip(visible(figure), PANELS, strict=True):
        lines = {line.get_label(): line for line in axes.lines}
        found = bands(axes)
        for key in (*paper, *shown):
            mine = of(table, panel, key[0])
            mine = mine[mine["method"] == key[1]]
            line = lines.pop(label(key))
            assert_looks(line, key)
            mine = mine[mine["role"] == ("grid" if key in CURVES else "best")].sort_values("blanket_per_user")
            if key in CURVES:
                assert points(line) == close(zip(mine["blanket_per_user"], mine["mse_mean"], strict=True))
            else:
                assert set(line.get_ydata()) == {mine["mse_mean"].item()}
                x = line.get_xdata()
                assert (x[0], x[-1]) == (min(GRID), max(GRID))
                assert np.diff(np.log(x)).min() > 0.2, "marks stand apart"
                assert x[line.get_markevery()].tolist() == x[1:-1].tolist(), "and none on the edge"
            low, high = mine["mse_mean"] - 2 * mine["mse_stderr"], mine["mse_mean"] + 2 * mine["mse_stderr"]
            assert pytest.approx((low.min(), high.max()), rel=1e-12, abs=0) in found, key
        assert len(found) == len(paper) + len(shown)
        if paper:
            # the horizontal lines are named beside the panel, in the order of their errors
            beside = [key for key in shown if key not in CURVES]
            errors = of(table, panel, "proven").query("role == 'best'").set_index("method")["mse_mean"]
            named = {re.sub(r" \((ours, )?proven\)", "", label(key)): errors[key[1]] for key in beside}
            texts = axes.get_legend().get_texts()
            assert min(text.get_fontsize() for text in texts) >= 7.0, "no smaller than other small print"
            assert [text.get_text().replace("\n", " ") for text in texts] == sorted(
                named, key=lambda text: -named[text]
            )
        stars = {name: line for name, line in lines.items() if "search picks" in name}
        ours = of(table, panel, "published")
        ours = ours[(ours["method"] == "segmented") & (ours["role"] == "best")]
        expected = [] if paper else [[(1.5, ours["mse_mean"].item())]]
        assert [points(line) for line in stars.values()] == expected
        assert len(lines) == len(stars), "nothing else is drawn"
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert all(0 < share < 0.1 for share in room(axes, "x")), "just around the data"
    assert shape(figure) == (2, 2)
    entries = legend_texts(figure)
    named = [key for key in (*paper, *shown) if not paper or key in CURVES]
    assert len(entries) == len(set(entries)) == len(named) + (not paper)
    assert {label(key) for key in named} <= set(entries)
    assert [axes.get_title().replace("\n", ": ") for axes in visible(figure)] == [
        "(a) MSNBC (stand-in), S2: $n$ = 5,000, $d$ = 17, $s$ = 4",
        "(b) MSNBC (stand-in), S3: $n$ = 5,000, $d$ = 17, $s$ = 4",
        "(c) Synthetic, S2: $n$ = 50,000, $d$ = 128, $s$ = 8",
        "(d) Synthetic, S3: $n$ = 50,000, $d$ = 128, $s$ = 8",
    ]
    assert_readable(figure)


def test_messages_draws_the_error_of_every_budget_over_the_curators(table):
    figure = draw(table, "proven", "messages")
    for axes, panel in zip(visible(figure), PANELS, strict=True):
        mine = of(table, panel, "proven")
        curator = mine[(mine["method"] == "curator-weighted") & (mine["role"] == "best")]["mse_expected"].item()
        lines = {line.get_label(): line for line in axes.lines}
        for key in BUDGETED:
            spent = mine[(mine["method"] == key[1]) & (mine["role"] == "budget")].sort_values("messages_per_user")
            line = lines.pop(label(key))
            assert_looks(line, key)
            assert points(line) == close(zip(spent["messages_per_user"], spent["mse_expected"] / curator, strict=True))
        assert set(lines.pop(label(("proven", "curator-weighted"))).get_ydata()) == {1.0}
        assert lines == {}
        low, high = axes.get_ylim()
        ratios = mine[mine["role"] == "budget"]["mse_expected"] / curator
        assert ratios.max() < high < 1.1 * ratios.max(), "nothing is cut off, and little is empty"
        assert 0.9 < low < 1.0
        assert axes.get_xlim()[0] == 0.0
    assert shape(figure) == (2, 3)
    assert set(legend_texts(figure)) == {label(key) for key in (*BUDGETED, ("proven", "curator-weighted"))}
    assert_readable(figure)


def test_the_axis_of_ratios_has_a_least_height(table):
    flat = of(table, PANELS[0]).assign(mse_expected=1e-4)
    figure = draw(flat, "proven", "messages")
    assert figure.axes[0].get_ylim() == (0.95, 1.3)


@pytest.mark.quick(0)
def test_summary_draws_every_competitor_of_every_panel(table):
    figure = draw(table, "published", "summary")
    (axes,) = visible(figure)
    high, low = axes.get_ylim()  # the first panel is on top
    assert -1 < low < 0 < len(PANELS) - 1 < high < len(PANELS), "less than a row of room at either end"
    (ours,) = strokes(axes, color=PALETTE["black"], marker="None")
    assert set(ours.get_xdata()) == {1.0}
    assert axes.get_xscale() == "log"
    lines = {line.get_label(): line for line in axes.lines}
    for key in [key for key in METHODS if key[0] == "published" and key[1] != "segmented"]:
        line = lines[label(key)]
        assert_looks(line, key)
        expected = []
        for position, panel in enumerate(PANELS):
            mine = of(table, panel, "published")
            ours = mine[(mine["method"] == "segmented") & (mine["role"] == "grid")]["mse_mean"].min()
            expected.append((mine[mine["method"] == key[1]]["mse_mean"].item() / ours, position))
        assert sorted(points(line), key=lambda point: point[1]) == close(expected)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "MSNBC (stand-in), S2: n = 5,000, d = 17, s = 4",
        "MSNBC (stand-in), S3: n = 5,000, d = 17, s = 4",
        "Synthetic, S2: n = 50,000, d = 128, s = 8",
        "Synthetic, S3: n = 50,000, d = 128, s = 8",
    ]
    assert np.all(np.diff(axes.get_yticks()) == 1)
    assert set(legend_texts(figure)) == set(lines) - {label_ for label_ in lines if label_.startswith("_")}
    assert_readable(figure)


@pytest.mark.exhaustive
def test_a_seventeenth_panel_is_drawn_and_counted(table):
    """Panels that the paper does not show have figures of their own, and may be any number."""
    first = of(table, PANELS[0])
    panels = [Scenario(Setting("msnbc", n, 4, 17), "S4") for n in range(5001, 5018)]
    many = pd.concat([first.assign(n_users=panel.setting.n_users, split="S4") for panel in panels])
    ((name, grouped),) = figures_of(panels).items()
    assert (name, grouped) == ("panels-msnbc-S4", panels)
    figure = draw(many, "published", "errors")
    titles = [axes.get_title().split()[0] for axes in visible(figure)]
    assert titles == [f"({letter})" for letter in "abcdefghijklmnopq"]
    assert complaints(figure) == []
