"""The figures of the panels say what their table says, all of it, and can be read."""

import itertools

import pandas as pd
import pytest
from reader import assert_readable, close, points, strokes, visible

from segshuffle.drawing.looks import METHODS as LOOKS
from segshuffle.drawing.looks import PALETTE, label_of, spare_look
from segshuffle.plans.registry import every
from segshuffle.reproduction.design import Scenario, Setting
from segshuffle.reproduction.studies.panels.report import draw

GRID = (3.0, 0.1, 10.0)
#: Settings of the experiment with the longest names that there are.
PANELS = [
    Scenario(Setting(dataset, n, s, d), split)
    for (dataset, n, s, d), split in itertools.product(
        [("msnbc", 5000, 4, 17), ("synthetic", 50000, 8, 128)], ("S2", "S3")
    )
]
NAMES = ["MSNBC (stand-in), S2", "MSNBC (stand-in), S3", "Synthetic, S2", "Synthetic, S3"]
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
    figure = draw(table, {"published": "all", "proven": "all-proven"}[accounting])
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
            low, high = mine["mse_mean"] - 2 * mine["mse_stderr"], mine["mse_mean"] + 2 * mine["mse_stderr"]
            assert pytest.approx((low.min(), high.max()), rel=1e-12, abs=0) in found, key
        assert len(found) == len(paper) + len(shown)
        stars = {name: line for name, line in lines.items() if "search picks" in name}
        ours = of(table, panel, "published")
        ours = ours[(ours["method"] == "segmented") & (ours["role"] == "best")]
        expected = [] if paper else [[(1.5, ours["mse_mean"].item())]]
        assert [points(line) for line in stars.values()] == expected
        assert len(lines) == len(stars), "nothing else is drawn"
    for axes, letter, name in zip(visible(figure), "abcd", NAMES, strict=True):
        assert axes.get_title().startswith(f"({letter}) {name}")
    assert_readable(figure)


def test_messages_draws_the_error_of_every_budget_over_the_curators(table):
    figure = draw(table, "messages-proven")
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
    assert_readable(figure)


@pytest.mark.quick(0)
def test_summary_draws_every_competitor_of_every_panel(table):
    figure = draw(table, "summary")
    (axes,) = visible(figure)
    (ours,) = strokes(axes, color=PALETTE["black"], marker="None")
    assert set(ours.get_xdata()) == {1.0}
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
    for tick, name in zip(axes.get_yticklabels(), NAMES, strict=True):
        assert tick.get_text().startswith(name)
    assert_readable(figure)
