"""What the names in answers mean. These lines are printed below every answer that is for people."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable

#: Name in an answer -> what it is.
WORDS = {
    "blanket_levels": "dummy messages that a user sends on average in round 1, which hide the levels",
    "blanket_per_user": "dummy messages that a user sends on average, spread evenly over all items",
    "bytes": "of all messages of both rounds",
    "certificate": "by level, an interval that contains the exact delta of the plan at the level's epsilon",
    "copies": "messages that a user of each level sends about a held item, on average",
    "cut": "loss from users who hold more than set_size items and send a random set_size of them",
    "delta": "probability with which the guarantee of epsilon may fail",
    "epsilon_if_honest": "the epsilons that hold if only this share of the users send their dummy messages",
    "expected_error": "expected value of squared_error",
    "guarantee": "epsilon of each level for the users who took part, if honest_users are honest; none: not certified",
    "honest_users": "users whose dummy messages the guarantee relies on",
    "kind": "exact: proven, and no smaller number holds; upper: proven; published: stated in a paper, not proven",
    "largest_bias": "largest mean error of any item's estimate, because levels depend on items",
    "level_counts": "users at each level",
    "level_counts_planned": "users at each level, as round 1 estimates them; the plan is made for them",
    "level_deltas": "by level, the probability with which its guarantee may fail; delta is the least",
    "level_estimates": "users at each level as counted in round 1, without the dummy messages",
    "messages_possible": "least and most messages that those who took part send, in all but one of 10^6 collections",
    "messages_per_user": "messages that a user sends on average, dummies included",
    "mse_bound": "bound on the expected squared error, summed over the items, whatever users hold",
    "mse_sample": "expected squared error, summed over the items, at the item frequencies given (or uniform ones)",
    "share_expected": "share of the users who must take part and be honest; estimate says what holds if fewer do",
    "squared_error": "squared difference of estimated and true share of the users, summed over the items",
}


def glossary(names: Iterable[str]) -> str:
    """Write a line for each of the names that has an explanation."""
    known = [(name, WORDS[name]) for name in names if name in WORDS]
    width, indent = min(shutil.get_terminal_size().columns, 100), 4
    return "\n".join(
        textwrap.fill(f"{name}: {text}", width, subsequent_indent=" " * indent) for name, text in sorted(known)
    )
