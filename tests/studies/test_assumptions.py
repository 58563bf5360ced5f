"""What guarantees rely on: tables against other ways to the same numbers, figures against their tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from reader import complaints, points, visible

from segshuffle.pipeline.design import Scenario, Setting
from segshuffle.pipeline.style import mark_edition
from segshuffle.studies.assumptions import participation, participation_figure

PANEL = Scenario(Setting("msnbc", 5000, 4, 17), "S1")
CONFIG = {
    "delta_times_n": 0.01,
    "levels": [0.5, 1.0, 2.0],
    "splits": {"S1": [0.25, 0.5, 0.25]},
    "proven": {"copies_max": 8, "variants": [], "max_messages": [8, 16]},
}


@pytest.fixture(autouse=True)
def every_figure_is_closed():
    yield
    plt.close("all")


def legend_texts(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def assert_readable(figure):
    assert complaints(figure) == []
    mark_edition(figure, "quick")
    assert complaints(figure) == []


@pytest.fixture(scope="module")
def participated():
    return participation.epsilon_table(CONFIG, [PANEL]), participation.error_table(CONFIG, [PANEL])


def test_a_plan_keeps_its_levels_down_to_the_users_it_assumes(participated):
    epsilons, _ = participated
    assert (epsilons["epsilon"].groupby([epsilons["assumed"], epsilons["level"]]).diff().dropna() <= 0).all()
    enough = epsilons[epsilons["really"] >= epsilons["assumed"]]
    # the curves are certified within 0.1 % of delta, so an epsilon is within less of the least one
    assert (enough["epsilon"] <= enough["level"] * (1 + 1e-4)).all()
    # the most private level has no room left, so one user fewer would break it
    least = epsilons[epsilons["level"] == 0.5]
    assert least.loc[least["really"] == least["assumed"], "epsilon"].tolist() == pytest.approx([0.5] * 3, rel=2e-3)
    assert (least.loc[least["really"] < least["assumed"], "epsilon"] > 0.5).all()


def test_a_smaller_share_costs_no_more_than_its_inverse(participated):
    _, errors = participated
    assert errors["max_messages"].drop_duplicates().fillna(0).tolist() == [0, 8, 16]
    for _, curve in errors.groupby("max_messages", dropna=False):
        assert curve["assumed"].tolist() == list(participation.PAID)
        assert (np.diff(curve["mse_expected"]) < 0).all()
        assert curve["error_ratio"].iloc[-1] == 1.0
        assert (curve["error_ratio"] <= 1.001 / curve["assumed"]).all()


def test_participation_draws_every_curve(participated):
    # one population more, whose plan has no epsilon at the left end
    epsilons, errors = (pd.concat([table, table.assign(split="S2")], ignore_index=True) for table in participated)
    gone = (epsilons["split"] == "S2") & (epsilons["really"] < 0.4) & (epsilons["level"] == 2.0)
    epsilons.loc[gone, "epsilon"] = np.inf
    figure = participation_figure.draw(epsilons, errors, edition="full")
    panels = visible(figure)
    assert [axes.get_title().partition(":")[0] for axes in panels] == [
        "(a) MSNBC, S1",
        "(b) MSNBC, S1",
        "(c) MSNBC, S2",
        "(d) MSNBC, S2",
    ]
    for split, left, right in zip(("S1", "S2"), panels[::2], panels[1::2], strict=True):
        mine = epsilons[(epsilons["split"] == split) & np.isfinite(epsilons["epsilon"])]
        drawn = [points(line) for line in left.lines if len(line.get_xdata()) > 2]
        wanted = [list(zip(c["really"], c["epsilon"], strict=True)) for _, c in mine.groupby(["assumed", "level"])]
        assert sorted(drawn) == sorted(wanted)
        assert legend_texts(left) == ["plan assumes 100%", "plan assumes 80%", "plan assumes 50%"]
        mine = errors[errors["split"] == split]
        *curves, limit = [points(line) for line in right.lines]
        wanted = [
            list(zip(c["assumed"], c["error_ratio"], strict=True))
            for _, c in mine.groupby("max_messages", dropna=False)
        ]
        assert sorted(curves) == sorted(wanted)
        assert limit == [(share, 1 / share) for share in participation.PAID]
        assert legend_texts(right) == ["sampling", "copies, 8 messages", "copies, 16 messages", "1 / assumed share"]
    assert_readable(figure)
