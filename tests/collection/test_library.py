"""The functions of the library: what they give together, the coverage of intervals, and what is refused."""

import math
import pydoc
import re
import subprocess
import sys
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest

import segshuffle
from segshuffle import (
    Assumptions,
    Demand,
    Guess,
    Layout,
    Limits,
    Problem,
    Transactions,
    account,
    compose,
    estimate,
    mechanism,
    plan,
    read_messages,
    read_plan,
    rehearse,
    save_plan,
    simulate,
)
from segshuffle.accounting.collections.shifted_noise import largest_shift
from segshuffle.accounting.single_message import amplification
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.datasets.own.reading import users_of
from segshuffle.errors import DataError, ParameterError, SegshuffleError
from segshuffle.plans.plan import PLAIN
from segshuffle.protocols.segmented import Segmented


def baskets(n, d, seed):
    """Make users with Zipf-like sets of 0 to 4 items."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, d + 1)
    shares /= shares.sum()
    sets = [rng.choice(d, size=rng.integers(0, 5), replace=False, p=shares).tolist() for _ in range(n)]
    return Transactions.from_sets(sets, [str(item) for item in range(d)])


@pytest.fixture(scope="module")
def collection():
    users = baskets(3000, 12, 1)
    problem = Problem(12, 4, (0.5, 1.0, 2.0), (1000, 1200, 800), 1e-5)
    return plan(problem), users


@pytest.mark.parametrize("rehearsals", [300, pytest.param(2000, marks=pytest.mark.exhaustive)])
def test_intervals_cover_what_they_promise(collection, rehearsals):
    """Every item's interval holds its share in 95 % of the rehearsals, rare items and frequent ones.

    Within 4.5 standard deviations of a binomial: 12 items, false alarm below 1e-4 in all.
    """
    made, users = collection
    held = np.zeros(12)
    for seed in range(rehearsals):
        low, high = estimate(made, simulate(made, users, seed=seed)).interval(0.95)
        held += (low <= users.frequencies) & (users.frequencies <= high)
    assert np.abs(held / rehearsals - 0.95).max() < 4.5 * math.sqrt(0.95 * 0.05 / rehearsals) + 0.002


@pytest.mark.parametrize(
    "table", [list, lambda sets: pl.DataFrame({"items": sets}), lambda sets: pd.Series(sets, name="items")]
)
def test_users_are_lists_or_tables(table):
    names, sets = ["tea", "milk", "bread"], [["tea", "milk"], ["milk"]] * 200
    users = table(sets)
    made = plan(Problem(3, 2, (1.0,), (400,), 1e-3))
    counts = simulate(made, [[0, 1], [1]] * 200, seed=5)
    assert (simulate(made, users, names=names, seed=5) == counts).all()
    found = rehearse(made, users, names=names, repetitions=1)
    assert (found.first.names, found.true.tolist()) == (names, [0.5, 1.0, 0.0])
    with pytest.raises(ParameterError, match=r"names = .* left out for Transactions"):
        simulate(made, users_of(users, names), names=names)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"level_counts": (100, 100)}, "300 users, but the plan is for 200"),
        ({"domain_size": 4}, "3 items, but the plan is for 4"),
        ({"set_size": 2, "assumptions": PLAIN}, "hold fewer than set_size = 2 items.*sets at-most"),
    ],
)
def test_users_that_were_not_planned_for_are_refused(change, says):
    users = Transactions.from_sets([["a"], ["b"], ["c"]] * 100)
    given = {"domain_size": 3, "set_size": 1, "levels": (1.0, 2.0), "level_counts": (100, 200), "delta": 0.1}
    made = plan(Problem(**given | change))
    for use in (simulate, rehearse):
        with pytest.raises(DataError, match=says):
            use(made, users)


def test_what_is_no_count_is_refused(collection):
    made, _ = collection
    for counts in ([1.0] * 12, [1] * 11, [-1] * 12, "many"):
        with pytest.raises(DataError, match="needed is an integer"):
            estimate(made, counts)
    with pytest.raises(DataError, match="a list of 12 different names is needed"):
        estimate(made, [0] * 12, ["tea"] * 12)
    found = estimate(made, [0] * 12)
    for confidence in (0.0, 1.0, math.nan):
        with pytest.raises(ParameterError, match="confidence"):
            found.interval(confidence)


def test_an_estimate_is_a_table_a_plot_and_a_line(collection):
    made, users = collection
    names = [f"<item {number}>" for number in range(12)]
    counts = simulate(made, users, seed=1)
    counts[[3, 8]] = 0
    found = estimate(made, counts, names)
    frame = found.to_frame(0.8).sort_values("estimate", ascending=False)
    columns = dict(
        zip(("item", "estimate", "low", "high"), (names, found.frequencies, *found.interval(0.8)), strict=True)
    )
    assert frame[[*columns]].sort_index().equals(pd.DataFrame(columns))
    told = frame["estimate"] > rehearse(made, users, repetitions=1).first.threshold
    assert (frame["told_from_zero"] == told).all()
    assert told.sum() < 12
    assert [text.get_text() for text in found.plot(20).get_yticklabels()] == frame["item"].tolist()
    name, share = frame.iloc[0][["item", "estimate"]]
    assert f"{told.sum()} told from zero; largest: {name!r} {100 * share:.3g} %" in repr(found)
    assert f"&lt;{name[1:-1]}&gt;</td>\n      <td>{share:.4g}</td>" in found._repr_html_()
    plt.close("all")


SMALL = Problem(8, 1, (1.0,), (40,), 1e-3)
PUBLISHED = Segmented(2.0).plan(replace(SMALL, assumptions=PLAIN))
PLANNED = plan(SMALL)
KRR = mechanism("krr", local_epsilon=4.0, domain_size=10)


def test_an_accountant_is_given_by_name_or_as_an_object():
    users = np.array([10**3, 10**6])
    for asked in ({"delta": 1e-6}, {"epsilon": 0.5}):
        by_name = account(KRR, n_users=users, accountant="blanket", **asked)
        assert (account(KRR, n_users=users, accountant=ACCOUNTANTS["blanket"], **asked) == by_name).all()
        assert account(KRR, n_users=1000, accountant="blanket", **asked) == by_name[0]
    entries = {entry.accountant: entry.value for entry in account(KRR, n_users=1000, epsilon=0.5)}
    assert entries["blanket"] == account(KRR, n_users=1000, epsilon=0.5, accountant="blanket")
    assert entries["blanket-lower"] <= entries["blanket"]
    lower = amplification.ask(ACCOUNTANTS["blanket-lower"], KRR, 1000, epsilon=0.5)
    assert account(KRR, n_users=1000, epsilon=0.5, accountant="blanket-lower") == lower


def test_an_account_is_a_table_a_plot_and_a_line():
    """Bounds of an interval that is shown contain the proven ones."""
    found = account(KRR, n_users=1000, delta=1e-6)
    frame = found.to_frame().set_index("accountant")
    assert frame.index.tolist() == found.names == [entry.accountant for entry in found]
    assert set(found.left_out) == {each.name for each in ACCOUNTANTS.values() if each.applies(KRR)} - set(found.names)
    lower, upper = frame["value"]["blanket-lower"], frame["value"]["blanket"]
    assert found.proven == (lower, upper)
    low, high = map(float, re.findall(r"(?:least|most) ([\d.]+)", repr(found)))
    assert 0.999 * lower < low < lower < upper < high < 1.001 * upper
    axes = found.plot()
    assert [line.get_xdata()[0] for line in axes.lines] == frame["value"].tolist()
    account(mechanism("krr", local_epsilon=0.1, domain_size=9), n_users=10**9, epsilon=0.5).plot()  # deltas of 0
    plt.close("all")


def test_collections_compose():
    made = plan(Problem(8, 2, (0.5, 1.0), (200, 200), 1e-4))
    certified = {each["epsilon"]: each["delta_upper"] for each in made.certificate}
    assert compose([(made, 1.0)], epsilon=1.0) == pytest.approx(certified[1.0], rel=2e-3)
    assert 0.5 < compose([(made, 0.5)] * 2, delta=1e-4) < 1.0
    assert compose([], delta=1e-4) == 0.0


def test_plans_with_a_cap_compose_at_the_cost_of_the_cap(tmp_path):
    problem = Problem(8, 2, (0.5, 1.0), (200, 200), 1e-4)
    save_plan(plan(problem, blanket_cap="auto"), tmp_path / "p.json")
    capped = read_plan(tmp_path / "p.json").plan
    assert capped.scheme.blanket_cap
    (free,) = (replace(each, announcement=replace(each.announcement, blanket_cap=None)) for each in capped.collections)
    free = replace(capped, collections=(free,))
    for collections in ([0.5], [1.0, 0.5, 0.5]):
        with_cap, without = ([(each, level) for level in collections] for each in (capped, free))
        epsilon = compose(with_cap, delta=1e-4)
        assert compose(without, delta=1e-4) < epsilon < 1.01 * compose(without, delta=1e-4)
        assert compose(without, epsilon=epsilon) < compose(with_cap, epsilon=epsilon) <= 1e-4
    # what the plan itself certifies for one collection
    assert compose([(capped, 1.0)], epsilon=1.0) <= capped.certificate[1]["delta_upper"] <= 1e-4
    assert compose([(capped, 1.0)], epsilon=0.0) == 1.0


@pytest.mark.parametrize("delta", [1e-4, 1.23456789e-7, 0.3])
def test_composed_epsilons_reach_their_delta_and_a_plan_for_several_rounds_counts_as_several(delta):
    problem = Problem(8, 2, (0.5,), (400,), 1e-4)
    once = plan(problem)
    twice = replace(once, problem=replace(problem, assumptions=Assumptions(rounds=2)))
    epsilons = [compose([(once, 0.5)] * times, delta=delta) for times in (1, 2, 3)]
    assert epsilons == sorted(epsilons)
    for times, epsilon in enumerate(epsilons, start=1):
        assert compose([(once, 0.5)] * times, epsilon=epsilon) <= delta
    assert compose([(twice, 0.5)], delta=delta) == epsilons[1]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: account(KRR, n_users=10), "exactly one of the two"),
        (lambda: account(KRR, n_users=[10, 20], delta=1e-6), "accountant is missing"),
        (lambda: account(np.eye(2), n_users=10, delta=1e-6), r"it must be a Mechanism, not a ndarray\."),
        (lambda: Problem(8, 2, 1.0, (9,), 1e-3), "levels = 1.0 is not allowed: it must be a sequence of numbers"),
        (lambda: Problem(8, 2, (1.0,), (9,), 1e-3, "at-most"), "assumptions = 'at-most' is not allowed"),
        (lambda: Assumptions(private_levels="no"), "private_levels = 'no' is not allowed: it must be True or False"),
        (lambda: plan("a problem"), "problem = 'a problem' is not allowed: it must be a Problem, not a str"),
        (lambda: compose(plan(SMALL), delta=1e-4), "collections = .* it must be a list of pairs"),
        (lambda: Guess("zipf:x"), "guess = 'zipf:x' is not allowed: it must be zipf:a with a number a, such as zipf:1"),
    ],
)
def test_wrong_types_are_refused_like_wrong_values(ask, says):
    with pytest.raises(ParameterError, match=says):
        ask()


USER_CODE = """
import numpy as np
from segshuffle import Estimate, Plan, Problem, account, compose, estimate, mechanism, plan

krr = mechanism("krr", local_epsilon=4.0, domain_size=10)
one: float = account(krr, n_users=np.int64(1000), delta=1e-6, accountant="blanket")
many = account(krr, n_users=np.array([10, 20]), delta=1e-6, accountant="blanket")
largest: float = float(many.max())
first: str = account(krr, n_users=1000, epsilon=0.5)[0].accountant
names: list[str] = account(krr, n_users=1000, epsilon=0.5).names
made: Plan = plan(Problem(8, 2, (0.5,), (200,), 1e-4))
found: Estimate = estimate(made, np.zeros(8, dtype=np.int64))
both: float = compose([(made, 0.5)], delta=1e-4)
"""


@pytest.mark.exhaustive
def test_code_of_a_user_passes_strict_types(tmp_path, root):
    (tmp_path / "user.py").write_text(USER_CODE)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(tmp_path / "user.py")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_package_loads_nothing_before_it_is_asked():
    code = "import sys, segshuffle; assert 'numpy' not in sys.modules; segshuffle.plan; assert 'numpy' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert all(hasattr(segshuffle, name) for name in segshuffle.__all__)
    assert {name for name in dir(segshuffle) if not name.startswith("__")} == set(segshuffle.__all__)
    text = pydoc.plain(pydoc.render_doc(segshuffle))
    assert all(f"    {name}(" in text or f"class {name}(" in text for name in segshuffle.__all__)
    with pytest.raises(AttributeError, match="it offers"):
        _ = segshuffle.nothing


#: What is no value of these arguments.
ODD = (b"x", [[1], [2, 3]], {1: 2}, object(), 1j, math.nan, np.array([1.0, 2.0]), 10**400, len)
TAKES = {
    "largest_shift": lambda value: largest_shift(exponent=1.5, pairs=1, epsilon=1.0, delta=value),
    "accountant": lambda value: account(KRR, n_users=10, delta=0.1, accountant=value),
    "copies_max": lambda value: Limits(copies_max=value),
    "format": lambda value: Layout(format=value),
    "counts": lambda value: estimate(PLANNED, value),
    "names": lambda value: estimate(PLANNED, [0] * 8, value),
    "path": read_plan,
    "messages": lambda value: read_messages(value, PLANNED),
    "most_lines": lambda value: read_messages("nowhere", PLANNED, most_lines=value),
    "most_messages": lambda value: Demand(1.0, 1e-3, 9, most_messages=value),
}


@pytest.mark.parametrize("name", TAKES)
def test_arguments_of_a_wrong_type_are_refused_where_they_enter(name):
    for value in ODD:
        with pytest.raises(SegshuffleError):
            TAKES[name](value)
