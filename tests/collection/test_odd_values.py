"""What the library offers, called with values of odd types: an answer, or an error that says what is allowed."""

import contextlib
import inspect
import math
from dataclasses import fields

import matplotlib.pyplot as plt
import numpy as np
import pytest

import segshuffle
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.blankets import exact
from segshuffle.collection.planning.asked import Goal, Limits
from segshuffle.errors import SegshuffleError

#: Functions are no odd values: what a function of the caller raises is the caller's.
ODD = [None, True, -1, 0.5, math.nan, 1j, 10**400, "x", b"x", [], [[1], [2, 3]], (None,), {1: 2}, object()]
ODD += [np.array([1.0, 2.0]), np.array([[1]]), np.array("x")]
PROBLEM = segshuffle.Problem(8, 2, (0.5, 1.0), (20, 30), 1e-4)
PLAN = segshuffle.plan(PROBLEM)
QUESTION = segshuffle.Question(PROBLEM)
USERS = segshuffle.Transactions.from_sets([[user % 8, (user + 3) % 8] for user in range(50)], range(8))
KRR = segshuffle.mechanism("krr", domain_size=3, local_epsilon=1.0)
DEMAND = {"epsilon": 1.0, "delta": 1e-4, "honest_users": 50}
ESTIMATE = segshuffle.estimate(PLAN, [100] * 8)
ASKED = {"n_users": 10, "delta": 0.1, "epsilon": None, "rounds": 1}
#: Functions and classes, and values of their arguments that are answered; a class without values has defaults.
CALLS = {
    "Account": {"entries": [], "measure": "epsilon", "question": "", "left_out": {}},
    "Answer": {"question": QUESTION, "plan": PLAN, "rows": ()},
    "Assumptions": {},
    "Client": {"items": [1], "level": 0, "demand": segshuffle.Demand(**DEMAND), "below": exact.uniform()},
    "Demand": DEMAND,
    "Document": {"plan": PLAN, "items": [*"abcdefgh"], "digest": ""},
    "Estimate": {"frequencies": ESTIMATE.frequencies, "plan": PLAN, "names": [*"abcdefgh"]},
    "Goal": {},
    "Guess": {},
    "Layout": {},
    "Limits": {},
    "Plan": vars(PLAN),
    "Problem": {each.name: getattr(PROBLEM, each.name) for each in fields(PROBLEM)},
    "Question": vars(QUESTION),
    "Transactions": vars(USERS),
    "account": {"mechanism": KRR, "accountant": None, **ASKED},
    "answer": {"question": QUESTION, "compare": False},
    "compose": {"collections": [(PLAN, 0.5)], "delta": 1e-3, "epsilon": None},
    "estimate": {"plan": PLAN, "counts": [100] * 8, "names": None},
    "mechanism": {"name": "krr", "domain_size": 3, "local_epsilon": 1.0},
    "plan": {"problem": PROBLEM},
    "read_messages": {"path": "messages", "plan": PLAN, "drop": False, "most_lines": 9},
    "read_plan": {"path": "plan.json"},
    "read_transactions": {
        "data": "users.csv",
        "items": None,
        "domain_size": 9,
        "levels": (),
        "layout": None,
        "label": "",
    },
    "rehearse": {"plan": PLAN, "users": USERS, "names": None, "repetitions": 2, "seed": 0},
    "save_plan": {"plan": PLAN, "path": "plan.json", "names": None, "asked": {}},
    "simulate": {"plan": PLAN, "users": USERS, "names": None, "seed": 0},
}
#: What public methods take, by the names of their arguments.
TAKES = {
    "accountant": ACCOUNTANTS["blanket"],
    "announcement": PLAN.scheme,
    "asked": {},
    "ax": None,
    "blanket_per_user": 1.0,
    "code": 1,
    "compare": False,
    "confidence": 0.9,
    "covered": (),
    "fewer": False,
    "item": 1,
    "items": np.array([1, 2]),
    "label": "",
    "law": "poisson",
    "level_counts": (20, 30),
    "levels": np.zeros(50, int),
    "mechanism": KRR,
    "method": "segmented",
    "n_levels": 2,
    "n_users": 9,
    "private_levels": False,
    "problem": PROBLEM,
    "rng": np.random.default_rng(0),
    "set_size": 2,
    "sets": [[1], [2]],
    "top": 3,
    "users": np.array([0, 1]),
    "value": 1.0,
    "values": PLAN.as_dict(),
}
RETURNED = {
    "Account": segshuffle.account(KRR, n_users=10, delta=0.1),
    "Assumptions": segshuffle.Assumptions(sets="exactly"),
    "Entry": segshuffle.account(KRR, n_users=10, delta=0.1)[0],
    "Rehearsal": segshuffle.rehearse(PLAN, USERS, repetitions=1),
    **{
        name: getattr(segshuffle, name)(**CALLS[name])
        for name in ("Answer", "Client", "Demand", "Document", "Estimate")
    },
    **{name: getattr(segshuffle, name)(**CALLS[name]) for name in ("Goal", "Guess", "Layout", "Limits")},
    "Plan": PLAN,
    "Problem": PROBLEM,
    "Question": QUESTION,
    "Transactions": USERS,
    "Mechanism": KRR,
}


def methods():
    """Yield the public methods of what the library returns, and values of their arguments."""
    for name, made in RETURNED.items():
        for called in dir(type(made)):
            if called.startswith("_") or hasattr(list, called) or hasattr(tuple, called):
                continue
            method = inspect.getattr_static(made, called)
            if callable(method) or isinstance(method, classmethod):
                method = getattr(made, called)
                named = [
                    each for each in inspect.signature(method).parameters.values() if each.kind != each.VAR_KEYWORD
                ]
                yield f"{name}.{called}", method, {each.name: TAKES[each.name] for each in named}


FUNCTIONS = {name: (getattr(segshuffle, name), values) for name, values in CALLS.items()}
FUNCTIONS |= {name: (method, values) for name, method, values in methods() if values}
FUNCTIONS["Layout of read_transactions"] = (
    lambda **asked: segshuffle.read_transactions("users.csv", layout=segshuffle.Layout(**asked)),
    {each.name: each.default for each in fields(segshuffle.Layout)},
)
FUNCTIONS["options of plan"] = (
    lambda **asked: segshuffle.Question.of(PROBLEM, **asked),
    dict.fromkeys(["guess", "hide_level", *(each.name for one in (Goal, Limits) for each in fields(one))])
    | {"mean_size": None, "sizes": None, "least": "messages", "copies_max": 1.0, "equal_copies": False},
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    segshuffle.save_plan(PLAN, "plan.json")
    (tmp_path / "messages").write_text("1\n2\n", encoding="ascii")
    (tmp_path / "users.csv").write_text("user,item\n1,2\n1,3\n", encoding="ascii")
    return tmp_path


def test_every_name_of_the_library_is_called():
    assert set(CALLS) == set(segshuffle.__all__)


@pytest.mark.quick(12)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_of_odd_types_are_answered_or_refused(folder, name):
    function, values = FUNCTIONS[name]
    function(**values)
    names = dict.fromkeys([*values, *inspect.signature(function).parameters])
    for odd, argument in ((odd, argument) for odd in ODD for argument in names if argument not in ("asked", "rules")):
        with contextlib.suppress(SegshuffleError):
            function(**{**values, argument: odd})
        plt.close("all")
