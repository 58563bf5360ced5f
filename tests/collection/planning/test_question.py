"""Plans in words, for an error, for other values, beside other protocols: against closed forms and brute force."""

import math
import re
from dataclasses import fields, replace

import numpy as np
import pytest
from commands import answer, printed, refusal
from given_plans import given_plan
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.named import laws
from segshuffle.blankets.signed import Signed
from segshuffle.collection.padding import zipf_shares
from segshuffle.collection.planning import what_if
from segshuffle.collection.planning.answer import answer as ask
from segshuffle.collection.planning.asked import Goal, Guess, Limits
from segshuffle.collection.planning.foresight import expected, hardest_share
from segshuffle.collection.planning.question import Question
from segshuffle.collection.planning.wording import promises
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.plans.item_variance import ItemVariance, coverage_of_nothing
from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.plans.registry import every

D, N = 50, 4000
PROBLEM = Problem(D, 5, (0.5, 1.0), (1000, 3000), 1e-6)
SHARES = zipf_shares(5, D, 1.0)


def plan_of(problem=PROBLEM, m=4.0, copies=(1.0, 1.0), blanket=None):
    return given_plan(problem, copies, m, blanket)


# --- what is expected ------------------------------------------------------------------------------------------------


def test_the_smallest_share_told_from_zero_exceeds_the_threshold_in_95_percent():
    plan = plan_of()
    found = expected(plan)
    threshold = stats.poisson(N * 4.0 / D).isf(0.05 / D)
    deviation = math.sqrt(float(ItemVariance.of(plan).at(found.smallest)))
    above = found.smallest - plan.scheme.estimate(threshold, plan.problem.level_counts)
    assert above / deviation == pytest.approx(stats.norm.ppf(0.95), rel=1e-6)
    assert found.threshold == plan.scheme.estimate(threshold, plan.problem.level_counts)
    assert found.deviation == pytest.approx(math.sqrt(4.0 / D / N), rel=1e-9)
    assert found.as_dict(N)["deviation_users"] == pytest.approx(found.deviation * N)
    assert len(found.sentences(N)) == 4


def test_the_top_item_of_largest_relative_error_counts():
    plan = plan_of(copies=(0.4, 0.9))
    found = expected(plan, SHARES, 7)
    best = np.sort(SHARES)[::-1][:7]
    assert found.relative == pytest.approx((np.sqrt(ItemVariance.of(plan).at(best)) / best).max())
    assert found.share == hardest_share(SHARES, 7) in best
    assert hardest_share(np.array([0.2, 0.0, 0.5]), 3) == 0.2
    assert expected(plan, np.where(np.arange(D) < 3, 0.5, 0.0), 4).top == 3
    with pytest.raises(ParameterError, match="frequencies"):
        expected(plan, np.zeros(D))


# --- backwards -------------------------------------------------------------------------------------------------------


MANY = "plan --items 200 --set-size 5 --levels 1:20000 --delta 1e-7 --top 10 --dummies poisson"


def test_the_fewest_messages_have_just_the_error_that_was_asked_for(capsys):
    """A target far above the least error: with 2 % fewer messages it is missed."""
    guessed = f"{MANY} --guess zipf:1 --mean-size 3"
    found = answer(capsys, f"{guessed} --target-error 10%")
    assert 0.098 < found["top_error"] <= 0.1
    fewer = answer(capsys, f"{guessed} --max-messages {0.98 * found['messages_per_user']}")
    assert fewer["top_error"] > 0.1
    # shares given one by one, equal to those of the guess, lead to the same plan
    shares = ",".join(map(str, zipf_shares(3, 200, 1.0)))
    named = answer(capsys, f"{MANY} --guess {shares} --target-error 10%")
    assert named["messages_per_user"] == found["messages_per_user"]


@pytest.mark.exhaustive
def test_the_error_of_the_top_items_ranks_every_law(capsys):
    """A million items, of which the top 20 are to be known: no row pays for fewer messages with a much larger error."""
    asked = "plan --items 1e6 --set-size 4 --levels 1:1e6 --delta 1e-8 --guess zipf:1 --dummies all"
    found = answer(capsys, asked)["by_dummies"]
    rows = {row["dummies"]: row for row in found if "none" not in row}
    assert {"poisson", "clustered", "signed"} <= rows.keys()
    worst = max(row["top_error"] for row in rows.values())
    assert worst <= 1.06 * rows["poisson"]["top_error"] < 0.0012
    assert rows["clustered"]["messages_per_user"] < rows["poisson"]["messages_per_user"]


@pytest.mark.quick("3")
@pytest.mark.parametrize("top", [None, 3])
def test_a_question_is_answered_as_a_value(top):
    problem = Problem(20, 2, (1.0, 2.0), (1000, 1000), 1e-5)
    guess = Guess(1.0)
    least = ask(Question(problem, Goal(top=top), guess=guess))
    error = least.worth.relative if top else least.numbers["mse_sample"]
    fewer = ask(Question(problem, Goal(1.5 * error, top=top), guess=guess))
    assert fewer.numbers["messages_per_user"] < least.numbers["messages_per_user"]
    # without a limit on messages, epsilons are within 7 % of the least, and messages the fewest with them
    limits = Limits(max_messages=1e4)
    goal = Goal(1.5 * error, "epsilon", top)
    knee = ask(Question(problem, goal, guess=guess))
    safer = ask(Question(problem, goal, limits, guess))
    assert 1 < knee.plan.problem.levels[0] / safer.plan.problem.levels[0] < 1.07
    assert knee.plan.messages_per_user < safer.plan.messages_per_user
    assert safer.plan.problem.levels[0] < 1.0
    for found in (fewer, safer):
        reached = found.worth.relative if top else found.numbers["mse_sample"]
        assert 1.4 * error < reached <= 1.5 * error * (1 + 1e-9)
    assert safer.plan.problem.levels[1] == pytest.approx(2 * safer.plan.problem.levels[0], rel=0.01)
    if top is None:
        less = replace(problem, levels=tuple(level / 1.03 for level in safer.plan.problem.levels))
        missed = ask(Question(less, Goal(top=top), limits, guess))
        assert missed.numbers["mse_sample"] > 1.5 * error
        with pytest.raises(InfeasibleError, match="with an epsilon up to 100"):
            ask(Question(problem, Goal(1e-9, "epsilon", top), guess=guess))


# --- for other values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", what_if.VARIED)
def test_every_number_may_be_varied(capsys, name):
    values = {"epsilon": "0.5..2/3", "delta": "1e-9,1e-5", "honest_fraction": "0.5,1"}.get(name, "2,3")
    rows = answer(capsys, f"{SMALL} --dummies poisson --what-if {name.replace('_', '-')} {values}")["what_if"]
    assert [row[name] for row in rows] == ([0.5, 1, 2] if name == "epsilon" else [*map(float, values.split(","))])


@given(st.integers(1, 10**9), st.lists(st.integers(0, 10**6), min_size=2, max_size=2).filter(any))
def test_users_are_in_the_same_shares(n_users, counts):
    problem = replace(PROBLEM, level_counts=tuple(counts))
    found = what_if.changed(Question(problem), {"users": float(n_users)}).problem.level_counts
    assert sum(found) == n_users
    assert all(abs(each - n_users * count / sum(counts)) < 1 for each, count in zip(found, counts, strict=True))


def test_a_table_says_where_there_is_no_plan():
    guess = Guess(mean_size=3.0)
    error = ask(Question(PROBLEM, guess=guess)).numbers["mse_sample"]
    question = Question(PROBLEM, Goal(1.5 * error), guess=guess)
    rows = what_if.table(question, {"users": (40.0, 4000.0), "epsilon": (0.5, 1.0)})
    assert all("target_error" in row["none"] for row in rows[:2])
    assert [row["none"] for row in rows[2:]] == [None, None]
    assert rows[2]["messages"] > rows[3]["messages"]


def test_a_value_that_is_not_allowed_costs_its_row_only():
    rows = what_if.table(Question(PROBLEM), {"set_size": (1.0, 2.5, 2.0, float(PROBLEM.domain_size + 1))})
    assert [row["none"] is None for row in rows] == [True, False, True, False]
    assert "set_size = 2.5" in rows[1]["none"]
    guess = np.array([1.0, 1.0, *[0.0] * (PROBLEM.domain_size - 2)])
    (row,) = what_if.table(Question(replace(PROBLEM, set_size=2), guess=Guess(guess)), {"set_size": (1.0,)})
    assert "set_size = 1" in row["none"]


# --- beside others ---------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_every_protocol_of_the_project_is_there(capsys):
    asked = "plan --items 20 --set-size 2 --levels 1:3000 --delta 1e-6 --alternatives --sets exactly"
    rows = answer(capsys, asked)["alternatives"]
    assert {(row["accounting"], row["name"]) for row in rows} == set(every())
    deviations = [row["deviation"] for row in rows if row["none"] is None]
    assert len(deviations) > 20
    assert deviations == sorted(deviations)
    # 2 (1 - 2/20) is the squared error of 2/20 for every item
    assert all(row["useless"] == (20 * row["deviation"] ** 2 >= 1.8) for row in rows if row["none"] is None)
    # those without a plan come last, with the reason
    assert [row["deviation"] for row in rows[len(deviations) :]] == [None] * (len(rows) - len(deviations))
    assert all(row["none"] for row in rows[len(deviations) :])


@pytest.fixture
def beside(monkeypatch):
    """Return the rows of some protocols beside an answer."""

    def rows(found, *names):
        chosen = {key: each for key, each in every().items() if key[1] in names}
        monkeypatch.setattr(what_if, "every", lambda: chosen)
        return {row["name"]: row for row in what_if.side_by_side(found)}

    return rows


@pytest.mark.parametrize("sets", ["exactly", "at-most"])
def test_the_local_protocol_has_the_lowest_level_that_is_asked_for(beside, sets):
    """Of one item, k-ary randomized response: the closed form of a d = 2 domain, padded to 3 for at most one item."""
    for epsilon in (0.25, 1.0, 3.0):
        problem = Problem(2, 1, (epsilon, 4.0), (300, 200), 1e-4, Assumptions(sets=sets))
        row = beside(ask(Question(problem, guess=Guess([0.5, 0.5]))), "subexp-local")["subexp-local"]
        gain, others = math.exp(epsilon), 1 if sets == "exactly" else 2
        held, not_held = (odds / (gain + others) for odds in (gain, 1.0))
        error = (held * (1 - held) + not_held * (1 - not_held)) / 500 / (held - not_held) ** 2
        assert row["deviation"] == pytest.approx(math.sqrt(error / 2), rel=1e-9)
        assert (row["kind"], row["messages_per_user"]) == ("exact", 1.0)


@pytest.mark.quick("limits1-goal1")
@pytest.mark.parametrize(
    ("limits", "goal"), [(Limits(copies_max=8.0), Goal()), (Limits(copies_max=8.0), Goal(target_error=0.01))]
)
def test_both_tables_of_alternatives_have_the_same_plans(beside, limits, goal):
    """The laws of dummies stand in both; with a guess of the mean size they are planned for this guess."""
    problem = Problem(40, 6, (1.0,), (4000,), 1e-6)
    found = ask(Question(problem, goal, limits, Guess(mean_size=2.0)), compare=True)
    rows = beside(found, "poisson-copies", *laws())
    assert len(found.rows) == len(laws())
    for above in found.rows:
        below = rows["poisson-copies" if above["dummies"] == "poisson" else above["dummies"]]
        if "none" in above:
            assert below["none"]
            continue
        assert below["messages_per_user"] == pytest.approx(above["messages_per_user"], rel=1e-9)
        assert problem.domain_size * below["deviation"] ** 2 == pytest.approx(above["mse_sample"], rel=1e-9)


# --- in words --------------------------------------------------------------------------------------------------------


def test_a_private_level_is_promised_what_both_rounds_leave_of_it(capsys):
    """To stay at a level costs round 2 alone; to change it, the larger level and round 1: 2 + 0.5, 1e-6 + 1e-7."""
    asked = "plan --items 20 --set-size 2 --levels 1:3000,2:3000 --delta 1e-6"
    found = answer(capsys, f"{asked} --hide-level 0.5,1e-7")
    low, high, change, sums = found["words"]["What they are promised"]
    assert low.startswith("Level 1: if a user of this level held other items")
    assert "2.72 times as likely (e^1), up to a probability of 1e-06" in low
    assert "(e^2), up to a probability of 1e-06" in high
    assert change.startswith("The level itself: if a user had another level and other items")
    assert "12.2 times as likely (e^2.5), up to a probability of 1.1" in change
    between = "For a change between two levels, whatever the items, epsilon and delta are the larger ones of the two"
    assert sums.startswith(f"{between}, plus 0.5 and")
    table = [[each["epsilon"] for each in row["against"]] for row in found["guarantees"]]
    assert table == [[1.0, pytest.approx(2.5)], [pytest.approx(2.5), 2.0]]
    public = answer(capsys, asked)
    assert public["guarantees"] == []
    assert len(public["words"]["What they are promised"]) == 2
    # a saved plan does not know of round 1
    problem = replace(PROBLEM, assumptions=replace(PROBLEM.assumptions, private_levels=True))
    *_, alone, missing = promises(plan_of(problem, copies=(0.25, 1.0)))
    assert alone == f"{between}."
    assert missing.startswith("This does not include what the messages about levels (round 1) reveal")


SMALL = "plan --items 6 --set-size 2 --levels 1:300 --delta 1e-4"


@pytest.mark.parametrize(
    ("hidden", "differs"), [("", "set of items"), ("--levels 1:300,2:300 --hide-level 1", "set and level")]
)
def test_a_plan_names_the_relation_of_its_neighbours(capsys, hidden, differs):
    text = " ".join(printed(capsys, f"{SMALL} {hidden}").split())
    assert f"Neighbours differ in one user's {differs} (replace-one); n is public." in text


@pytest.mark.quick("one", "private")
@pytest.mark.parametrize(
    "options",
    [
        "",
        f"--levels {','.join(f'{0.1 * k:g}:20' for k in range(1, 31))} --delta 1e-5",
        "--levels 0.5:100,1:100,2:100 --hide-level 0.5 --guess zipf:1 --honest-fraction 0.9",
        "--levels 0.5:9,1:9,2:9,3:9,4:9 --hide-level 0.5 --guess zipf:1 --mean-size 1 --sets at-most --rounds 2",
    ],
    ids=["one", "many", "private", "guessed"],
)
def test_an_answer_fits_a_screen(capsys, options):
    lines = printed(capsys, f"{SMALL} {options}").splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("sizes", ["--items 2 --sets exactly --levels 1:1000", "--items 50 --levels 1:20"])
def test_what_stands_beside_a_plan_never_costs_the_plan(capsys, sizes):
    """Once there is nothing to hide, and once there are so few users that some laws have no blanket."""
    found = answer(capsys, f"{SMALL} --delta 1e-6 {sizes} --dummies all")
    assert found["copies"]
    names = [row["dummies"] for row in found["by_dummies"]]
    assert (names[0], set(names)) == ("poisson", laws().keys())


def test_a_law_that_is_no_better_is_said_to_be_left_out(capsys):
    """Without a pair of items to exchange there is nothing to hide."""
    asked = f"{SMALL} --items 2 --sets exactly --dummies signed"
    assert "Note: No better plan with signed dummies was found" in printed(capsys, asked)
    found = answer(capsys, asked)
    assert found["dummies"] == "poisson"
    assert found["note"].endswith("so this one has poisson dummies.")


def test_an_error_below_the_least_is_refused(capsys):
    said = refusal(capsys, f"{SMALL} --guess zipf:1 --top 3 --target-error 1%")
    assert "No plan reaches --target-error 1 % in the top 3 with any number of messages. Raise --target-error" in said


@pytest.mark.exhaustive
@pytest.mark.parametrize("least", ["", "--least epsilon"])
def test_the_command_plans_backwards(capsys, least, tmp_path):
    asked = f"{SMALL} --guess zipf:1 --top 3 --target-error 12% {least} --what-if users 300,3000"
    values = answer(capsys, f"{asked} --plot {tmp_path}/p.png --save {tmp_path}/p")
    assert 0.11 < values["top_error"] <= 0.12
    small, large = values["what_if"]
    assert small["messages"] == pytest.approx(values["messages_per_user"])
    assert large["top_error_%"] <= 12
    if least:
        assert large["least_epsilon"] < small["least_epsilon"] == values["levels"][0]
    else:
        assert large["messages"] < small["messages"]


@pytest.mark.parametrize(
    "blanket", [None, Clustered(0.5), Clustered(0.8), Signed(0.5, 0.85, 0.6), Signed(0.85, 0.9, 0.9)]
)
def test_intervals_of_rare_items_cover_94_to_96_percent_exactly(blanket):
    """By enumeration of the dummies' law, with a deviation of 8 or more: rounding costs up to 0.06/8 of coverage."""
    seen = 0
    for m in np.geomspace(0.5, 500, 40):
        plan = plan_of(m=float(m), blanket=blanket)
        if blanket and plan.problem.honest_mean(m) < blanket.means[0]:
            continue
        if math.sqrt(ItemVariance.of(plan).noise) * plan.scheme.weight(plan.problem.level_counts) >= 8:
            assert 0.94 < coverage_of_nothing(plan, 0.95) < 0.96
            seen += 1
    assert seen >= 15


@pytest.mark.parametrize(("name", "value"), [(f.name, f.default) for f in fields(Assumptions)])
def test_every_assumption_that_is_not_the_default_stands_on_the_screen(capsys, name, value):
    """A new assumption needs a line here and on the screen."""
    options, said = {
        "sets": ("--sets exactly", "hold exactly 2 of 6 items"),
        "honest_fraction": ("--honest-fraction 0.5", "150 of 300 users send their dummies"),
        "private_levels": ("--levels 0.5:100,1:200 --hide-level 1", "The level itself: "),
        "rounds": ("--rounds 13", "of 13 collections together would be at most this many times"),
    }[name]
    assert getattr(Assumptions(), name) == value
    shown = " ".join(printed(capsys, f"{SMALL} {options} --dummies poisson").split())
    assert said in shown
    assert said not in " ".join(printed(capsys, f"{SMALL} --dummies poisson").split())


def test_errors_include_what_cutting_larger_sets_loses():
    """Half of the users hold 2 items, half 10: with sets of 5, 7 of 12 entries are kept, of every item alike."""
    guess, kept = Guess(1.0, sizes={2: 0.5, 10: 0.5}), 3.5 / 6
    found = ask(Question(PROBLEM, Goal(top=3), guess=guess))
    share = np.sort(zipf_shares(6, D, 1.0))[-3]
    noise = float(ItemVariance.of(found.plan).at(kept * share))
    squares = noise + ((1 - kept) * share) ** 2 + kept * (1 - kept) * share / N
    assert found.worth.relative == pytest.approx(math.sqrt(squares) / share, rel=1e-9)
    assert found.worth.as_dict(N)["top_error_from_cutting"] == pytest.approx(1 - kept, rel=1e-12)
    # sets that are not cut lose nothing
    whole = ask(Question(PROBLEM, guess=Guess(1.0, sizes={3: 0.5, 5: 0.5}), goal=Goal(top=3)))
    assert (
        whole.numbers["mse_sample"]
        == ask(Question(PROBLEM, guess=Guess(1.0, 4.0), goal=Goal(top=3))).numbers["mse_sample"]
    )
    # a target is met with cutting included
    target = 1.2 * found.worth.relative
    fewest = ask(Question(PROBLEM, Goal(target, top=3), guess=guess))
    assert 0.98 * target < fewest.worth.relative <= target * (1 + 1e-9)
    assert fewest.plan.messages_per_user < found.plan.messages_per_user


def test_a_target_just_above_the_least_error_is_offered_a_cheaper_one(capsys):
    asked = "plan --items 50 --set-size 5 --levels 0.2:4000 --delta 1e-6 --guess zipf:1 --mean-size 3 --top 20"
    asked += " --dummies poisson"
    least = answer(capsys, asked)["top_error"]
    tight = answer(capsys, f"{asked} --target-error {100 * least * 1.001:.5f}%")
    (offer,) = [each for each in tight["words"]["How far off estimates are"] if "are enough for" in each]
    messages, option = re.match(r"(\S+) messages are enough for (--target-error \S+%)\.", offer).groups()
    cheaper = answer(capsys, f"{asked} {option}")
    assert cheaper["messages_per_user"] == pytest.approx(float(messages), rel=1e-3)
    assert cheaper["messages_per_user"] < 0.5 * tight["messages_per_user"]


def test_all_messages_are_counted_wherever_they_are_named(capsys):
    asked = "plan --items 20 --set-size 2 --levels 1:3000,2:3000 --delta 1e-6 --hide-level 0.5 --dummies poisson"
    found = answer(capsys, f"{asked} --what-if users 6000")
    about_items = found["blanket_per_user"] + 2 * float(np.mean(found["copies"]))
    total = about_items + found["level_messages_per_user"]
    assert found["level_messages_per_user"] > 1
    assert found["messages_per_user"] == pytest.approx(total, rel=1e-12)
    assert found["what_if"][0]["messages"] == found["messages_per_user"]
    assert f"at most {total:.4g} messages" in found["words"]["What users send"][-1]
