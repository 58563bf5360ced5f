"""Plans of little worth: the exact limits beyond which there is a warning."""

import pytest

from segshuffle.plans.level_counts import level_cautions
from segshuffle.plans.plan import Assumptions, Plan, Problem


def said(*, delta=1e-6, error=1e-3, messages=10.0, s=4, sets="exactly"):
    problem = Problem(16, s, (0.5, 1.0), (30, 70), delta, Assumptions(sets=sets))
    return Plan("any", problem, "exact", 1.0, messages, error).warnings


def test_nothing_is_said_of_an_ordinary_plan():
    assert said() == ()
    assert said(delta=0.0099, error=2.99, messages=1000.0) == ()


def test_a_delta_of_1_over_n_is_met_by_publishing_somebody():
    (found,) = said(delta=0.01)
    assert found == (
        "delta = 0.01 is too large: publishing all items of one random user would meet it. "
        "Take a delta much below 1/n = 0.01."
    )


@pytest.mark.parametrize(("sets", "largest"), [("exactly", 3.0), ("at-most", 4.0)])
def test_an_error_of_an_answer_without_data_is_said(sets, largest):
    """With exactly 4 of 16 items per user it is 4 (1 - 4/16); with at most 4 it is 4, as nobody may hold anything."""
    assert said(error=0.999 * largest, sets=sets) == ()
    (found,) = said(error=largest, sets=sets)
    assert f"squared error is {largest:g}. An answer that uses no data has at most {largest:g}." in found


def test_where_everybody_holds_everything_no_error_is_too_large():
    assert said(error=9.0, s=16) == ()


def test_more_than_a_thousand_messages_are_said():
    (found,) = said(messages=1000.5)
    assert found.startswith("A user sends 1e+03 messages on average. Set a budget")
    assert level_cautions(1000.0) == ()
    (found,) = level_cautions(1234.0)
    assert found.startswith("Round 1, about the levels, takes 1.23e+03 messages per user. Raise the epsilon")


def test_all_three_in_their_order():
    assert [each.split()[0] for each in said(delta=0.5, error=9.0, messages=2000.0)] == ["delta", "The", "A"]
