"""What guarantees rely on: tables against other ways to the same numbers, figures against their tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reader import assert_readable, points, visible

from segshuffle.datasets.population import Population
from segshuffle.protocols.almost_single_message import AlmostSingleMessage
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.reproduction.design import Scenario, Setting
from segshuffle.reproduction.studies.assumptions import compute
from segshuffle.reproduction.studies.assumptions import report as figures
from segshuffle.reproduction.studies.planning import assuming, lineup, problem_of

PANEL = Scenario(Setting("msnbc", 5000, 4, 17), "S1")
SHARES = [0.5, 0.75, 1.0]
CONFIG = {
    "seed": 3,
    "repetitions": 30,
    "delta_times_n": 0.01,
    "levels": [0.5, 1.0, 2.0],
    "splits": {"S1": [0.25, 0.5, 0.25]},
    "proven": {"copies_max": 8, "honest_fraction": 1.0, "variants": [], "max_messages": [8, 16]},
    "assumptions": {"honest_fractions": [0.75, 0.5], "rounds": [1, 4]},
}


@pytest.fixture(scope="module")
def participated():
    return compute.epsilon_table(CONFIG, [PANEL]), compute.error_table(CONFIG, [PANEL])


def test_a_plan_keeps_its_levels_down_to_the_users_it_assumes(participated):
    epsilons, _ = participated
    assert (epsilons["epsilon"].groupby([epsilons["assumed"], epsilons["level"]]).diff().dropna() <= 0).all()
    enough = epsilons[epsilons["really"] >= epsilons["assumed"]]
    # the curves are certified within 0.1 % of delta, so an epsilon is even nearer to the least one
    assert (enough["epsilon"] <= enough["level"] * (1 + 1e-4)).all()
    # the most private level has no room left, so one user fewer would break it
    least = epsilons[epsilons["level"] == 0.5]
    assert least.loc[least["really"] == least["assumed"], "epsilon"].tolist() == pytest.approx([0.5] * 3, rel=2e-3)
    assert (least.loc[least["really"] < least["assumed"], "epsilon"] > 0.5).all()


def test_a_smaller_share_costs_no_more_than_its_inverse(participated):
    _, errors = participated
    assert errors["max_messages"].drop_duplicates().fillna(0).tolist() == [0, 8, 16]
    for _, curve in errors.groupby("max_messages", dropna=False):
        assert curve["assumed"].tolist() == SHARES
        assert (np.diff(curve["mse_expected"]) < 0).all()
        assert curve["error_ratio"].iloc[-1] == 1.0
        assert (curve["error_ratio"] <= 1.001 / curve["assumed"]).all()


def test_participation_draws_every_curve(participated):
    # one more panel, S0, which comes after S1 here; one of its levels has no epsilon at the left end
    epsilons, errors = (pd.concat([table, table.assign(split="S0")], ignore_index=True) for table in participated)
    errors = errors.iloc[::-1]
    gone = (epsilons["split"] == "S0") & (epsilons["really"] < 0.4) & (epsilons["level"] == 2.0)
    epsilons.loc[gone, "epsilon"] = np.inf
    figure = figures.draw_participation(epsilons, errors)
    panels = visible(figure)
    for split, left, right in zip(("S1", "S0"), panels[::2], panels[1::2], strict=True):
        mine = epsilons[(epsilons["split"] == split) & np.isfinite(epsilons["epsilon"])]
        drawn = [points(line) for line in left.lines if len(line.get_xdata()) > 2]
        wanted = [list(zip(c["really"], c["epsilon"], strict=True)) for _, c in mine.groupby(["assumed", "level"])]
        assert sorted(drawn) == sorted(wanted)
        promised = [line.get_ydata() for line in left.lines if len(line.get_xdata()) == 2]
        assert [list(ends) for ends in promised] == [[level, level] for level in CONFIG["levels"]]
        mine = errors[errors["split"] == split]
        *curves, limit = [points(line) for line in right.lines]
        wanted = [
            list(zip(c["assumed"], c["error_ratio"], strict=True))
            for _, c in mine.groupby("max_messages", dropna=False)
        ]
        assert sorted(curves) == sorted(wanted)
        assert [limit[0], limit[-1]] == [(0.5, 2.0), (1.0, 1.0)]
        assert all(y == 1 / x for x, y in limit)
    assert_readable(figure)


# --- liars --------------------------------------------------------------------------------------------------------


LIARS = {
    **CONFIG,
    "competitors": {"methods": ["subexp-local", "correlated-noise", "fake-users", "almost-single"]},
    "proven": {"copies_max": 2, "honest_fraction": 1.0, "variants": [], "max_messages": [6]},
}


@pytest.fixture(scope="module")
def influenced():
    small = Scenario(Setting("synthetic", 400, 2, 10), "S1")
    problem, methods = problem_of(LIARS, small.setting, "S1"), lineup(LIARS, "published")
    *chosen, last = (methods[name][0].plan(problem) for name in LIARS["competitors"]["methods"])
    unknown = last.as_dict()
    points = [{"role": "best", "plan": plan} for plan in (*(plan.as_dict() for plan in chosen), unknown)]
    points.append({"role": "grid", "plan": unknown})
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(AlmostSingleMessage, "influence")
        table = compute.influence_table(
            LIARS, [small], {small.setting.id: {"S1": points}}, {small.setting.id: {"S1": []}}
        )
    return table, chosen


@pytest.mark.quick(0)
def test_influence_is_that_of_a_hundredth_of_the_users(influenced):
    table, chosen = influenced
    assert table["method"].tolist() == [
        *("poisson", "poisson-copies"),
        *(plan.method for plan in chosen),
        "almost-single",
    ]
    for row, plan in zip(table.iloc[2:].itertuples(), chosen, strict=False):
        one = lineup(LIARS, "published")[plan.method][0].influence(plan)
        assert (row.item, row.all_items) == (4 * one.item, 4 * one.all_items)
    ours = table.iloc[:2]
    assert np.isfinite(ours["item"]).all()  # the cap
    assert (ours["most_messages"] >= 2).all()
    plain = ProvenSegmented()
    error = plain.plan(chosen[0].problem).mse_bound
    assert ours["item_error"].iloc[0] ** 2 * 10 == pytest.approx(error, rel=1e-2)
    assert np.isinf(table["item"]).sum() == 1
    assert table["item"].isna().sum() == 1


def test_influence_draws_every_method(influenced):
    table = pd.concat([influenced[0], influenced[0].assign(split="S0")], ignore_index=True)
    figure = figures.draw_influence(table)
    panels = visible(figure)
    for split, axes in zip(("S1", "S0"), panels, strict=True):
        rows = table[table["split"] == split].reset_index(drop=True)
        finite = rows[np.isfinite(rows["item"])]
        for column, line in zip(("item", "all_items", "item_error"), axes.lines, strict=True):
            drawn = finite if column != "item_error" else rows[np.isfinite(rows[column])]
            wanted = [(rows.loc[i, column], len(rows) - 1 - i) for i in drawn.index]
            assert [point for point in points(line) if np.isfinite(point[0])] == wanted
        words = {text.get_text(): text.get_position() for text in axes.texts}
        missing = {"no bound": np.isinf(rows["item"]), "not known": rows["item"].isna()}
        assert {text: len(rows) - 1 - y for text, (_, y) in words.items()} == {
            text: rows.index[which].item() for text, which in missing.items()
        }
        names = [text.get_text() for text in axes.get_yticklabels()]
        assert names[1].endswith(f", budget 6: {rows.loc[1, 'most_messages']:g}")
        assert names[3] == "Correlated noise"
    assert_readable(figure)


# --- levels that depend on items ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def depended():
    rng = np.random.default_rng(2)
    popular = np.array([40.0, *range(16, 0, -1)]) / (40 + 136)
    items = np.sort([rng.choice(17, size=4, replace=False, p=popular) for _ in range(1000)])
    panel = Scenario(Setting("msnbc", 1000, 4, 17), "S1")
    return compute.dependence_table(CONFIG, [panel], {panel.setting.id: Population(items, 17, "stand-in")})


def test_equal_copies_trade_error_for_bias(depended):
    own, equal = (rows.set_index("strength") for _, rows in depended.groupby("method", sort=False))
    assert (own["item"] == 0).all()
    assert (equal["bias_expected"].abs() < 1e-15).all()
    assert set(equal["mse_expected"]) == {equal["mse_expected"][0.0]}
    assert abs(own["bias_expected"][0.0]) < 0.01 < own["bias_expected"][0.5] < own["bias_expected"][1.0]
    assert own["mse_expected"][0.0] < equal["mse_expected"][0.0]
    for what in ("bias", "mse"):
        off = (depended[f"{what}_mean"] - depended[f"{what}_expected"]).abs() / depended[f"{what}_stderr"]
        assert (off < 6).all()


def test_dependence_draws_lines_and_marks(depended):
    depended = depended.iloc[::-1]
    figure = figures.draw_dependence(depended)
    left, right = visible(figure)
    for axes, what in ((left, "bias"), (right, "mse")):
        for bars, (_, rows) in zip(axes.containers, depended.groupby("method", sort=False), strict=True):
            marks, _, (sticks,) = bars.lines
            assert points(marks) == list(zip(rows["strength"], rows[f"{what}_mean"], strict=True))
            ends = [(low, high) for (_, low), (_, high) in sticks.get_segments()]
            wanted = zip(rows[f"{what}_mean"], 2 * rows[f"{what}_stderr"], strict=True)
            assert ends == [pytest.approx((mean - error, mean + error)) for mean, error in wanted]
            assert list(zip(rows["strength"], rows[f"{what}_expected"], strict=True)) in [points(x) for x in axes.lines]
    assert_readable(figure)


# --- rounds -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def repeated():
    return compute.rounds_table(CONFIG, [PANEL])


def test_rounds_cost_less_together_than_apart(repeated):
    assert repeated.groupby("accounting", sort=False)["rounds"].apply(list).to_dict() == {
        "product": [1, 4] * 2,
        "split": [1, 4],
    }
    copies, sampling, split = (repeated["mse_expected"].to_numpy()[i : i + 2] for i in (0, 2, 4))
    assert (np.diff(copies) > 0).all()
    assert (copies < sampling).all()
    assert sampling[0] == split[0]
    assert (sampling[1:] < split[1:]).all()
    # the plan of a round with its share of epsilon is within the guarantee of all rounds together
    problem = problem_of(CONFIG, PANEL.setting, PANEL.split)
    plan = ProvenSegmented().plan(compute.apart(problem, 4))
    together = ProvenSegmented(blanket_per_user=plan.blanket_per_user).plan(assuming(problem, rounds=4))
    assert all(a <= b for a, b in zip(plan.scheme.copies, together.scheme.copies, strict=True))


def test_rounds_draws_every_curve(repeated):
    table = pd.concat([repeated, repeated.assign(split="S0")], ignore_index=True)
    figure = figures.draw_rounds(table)
    for axes, split in zip(visible(figure), ("S1", "S0"), strict=True):
        mine = table[table["split"] == split]
        wanted = list(zip(mine["rounds"], mine["mse_expected"], strict=True))
        assert [points(line) for line in axes.lines] == [wanted[:2], wanted[2:4], wanted[4:]]
    assert_readable(figure)


def test_rounds_apart_share_every_epsilon_and_delta():
    problem = replace(problem_of(CONFIG, PANEL.setting, PANEL.split), level_deltas=(1e-6, 2e-6, 4e-6), delta=1e-6)
    share = compute.apart(problem, 4)
    assert (share.levels, share.delta) == ((0.125, 0.25, 0.5), 2.5e-7)
    assert share.level_deltas == (2.5e-7, 5e-7, 1e-6)


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0])
def test_inclination_is_standardised_and_goes_with_the_item_by_its_strength(strength):
    """The lowest inclinations get the lowest level; of equal inclinations, each user's own part decides."""
    holds = np.arange(60) % 3 == 0
    levels = compute.inclined_levels(holds, (10, 30, 20), strength, np.random.default_rng(5))
    own = np.random.default_rng(5).standard_normal(60)
    # a third hold it: mean 1/3, variance 2/9
    inclination = [
        strength * (h - 1 / 3) / (2 / 9) ** 0.5 + (1 - strength**2) ** 0.5 * o for h, o in zip(holds, own, strict=True)
    ]
    order = sorted(range(60), key=lambda user: (round(inclination[user], 12), own[user]))
    assert [levels[user] for user in order] == [0] * 10 + [1] * 30 + [2] * 20
