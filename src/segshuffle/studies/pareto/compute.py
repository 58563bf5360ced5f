"""Error over messages per user at equal (epsilon, delta): every protocol of the project, swept over what it can choose.

A case is a size of the collection, items per user, one epsilon and a split: "one" is everybody at epsilon, "three"
epsilon/2, epsilon and 2 epsilon in the shares of the configuration. A protocol is asked for plans: ours for a budget
of messages, those of the literature for every value of their own option. Errors are closed forms for uniform
frequencies, and no data are seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.pipeline.design import least_delta, level_counts
from segshuffle.pipeline.jobs import to_json
from segshuffle.pipeline.progress import track
from segshuffle.protocols.base import Problem, uniform_item_counts
from segshuffle.protocols.method import Declared, Method
from segshuffle.protocols.registry import every, made

#: What the protocols of the literature can choose beside the guarantee.
CHOICES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "almost-single": [{"log_power": power} for power in (0.0, 0.5, 1.0, 2.0, 3.0)],
    "fake-users": [{"fakes_per_user": fakes} for fakes in (1, 2, 4, 8, 16)],
    "correlated-noise": [{"flood_share": share} for share in (0.03, 0.1, 0.3, 0.6)],
}
#: What every error is divided by.
MEASURE = "curator-weighted"
COLUMNS = (
    *("n_users", "domain_size", "set_size", "epsilon", "split", "method", "accounting", "role", "kind"),
    *("messages_per_user", "bits_per_user", "mse_expected", "error_ratio", "parameters", "refused"),
)
#: What another method of the table contains, and a competitor whose plans would take minutes.
_LEFT_OUT = ("poisson", "poisson-group", "curator-uniform", "subexp-shuffle")
_ONE = "one"
_MOST_COPIES = 64.0


@dataclass(frozen=True)
class Case:
    """One collection.

    Parameters
    ----------
    n_users, domain_size, set_size : int
        Users n, items d, items of every user s.
    epsilon : float
        The level, or the middle one of three.
    split : str
        "one" or the name of a split of the configuration.
    """

    n_users: int
    domain_size: int
    set_size: int
    epsilon: float
    split: str


def problem_of(case: Case, config: Mapping[str, Any]) -> Problem:
    """Return what is to be planned: delta = delta_times_n/n as everywhere."""
    levels: tuple[float, ...] = (case.epsilon,)
    counts: Sequence[int] = (case.n_users,)
    if case.split != _ONE:
        shares = config["splits"][case.split]
        levels = tuple(case.epsilon * 2.0 ** (k - len(shares) // 2) for k in range(len(shares)))
        counts = level_counts(case.n_users, shares)
    delta = least_delta(config, case.n_users)
    return Problem(case.domain_size, case.set_size, levels, tuple(counts), delta)


def plans_of(declared: Declared, budgets: Sequence[float]) -> Iterator[Method]:
    """Yield what a declared method is asked for: budgets where it takes one, else every choice of its own."""
    section = {"copies_max": _MOST_COPIES}
    method: Any = made(declared, section)
    if hasattr(method, "max_messages"):
        for budget in budgets:
            yield replace(method, max_messages=budget)
    else:
        for choice in CHOICES.get(declared.name, [{}]):
            yield made(declared, section, choice)


def compared() -> list[Declared]:
    """List the methods compared: all proven ones, and the literature's own with their published accounting."""
    return [
        each
        for (accounting, name), each in every().items()
        if (accounting == "proven" and each.role != "variant" and name not in _LEFT_OUT) or name in CHOICES
    ]


def size_table(config: Mapping[str, Any], *, n_users: int, domain_size: int, set_size: int) -> pd.DataFrame:
    """Make all plans of one size, for every epsilon and split of the section ``pareto``.

    Parameters
    ----------
    config : dict
        Keys delta_times_n, splits and pareto, whose budgets are messages per item that a user holds.
    n_users, domain_size, set_size : int
        The size.

    Returns
    -------
    DataFrame
        Columns as in `COLUMNS`. A plan that a method cannot make is a row without numbers whose column "refused" says
        why.
    """
    section = config["pareto"]
    budgets = [budget * set_size for budget in section["budgets"]]
    cases = [
        Case(n_users, domain_size, set_size, float(epsilon), split)
        for epsilon in section["epsilons"]
        for split in (_ONE, section["split"])
    ]
    rows: list[dict[str, Any]] = []
    for case in track(cases, total=len(cases), label="error over messages"):
        plans = _rows_of(case, problem_of(case, config), budgets)
        measure = next(plan["mse_expected"] for plan in plans if plan["method"] == MEASURE)
        # choices that make no difference, such as buckets beyond the domain
        plans = list({to_json(plan): plan for plan in plans}.values())
        rows += [{**plan, "error_ratio": plan.get("mse_expected", math.nan) / measure} for plan in plans]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows_of(case: Case, problem: Problem, budgets: Sequence[float]) -> list[dict[str, Any]]:
    """Plan one case with all methods: rows of the table."""
    counts = np.round(uniform_item_counts(problem)).astype(np.int64)
    rows = []
    for declared in compared():
        for method in plans_of(declared, budgets):
            row = {**asdict(case), "method": declared.name, "accounting": declared.accounting, "role": declared.role}
            rows.append(row | numbers_of(method, problem, counts))
    return rows


def numbers_of(method: Method, problem: Problem, counts: Any) -> dict[str, Any]:
    """Return what a plan costs and reaches, or why there is none."""
    try:
        plan = method.plan(problem)
    except (InfeasibleError, ParameterError) as error:
        return {"refused": str(error)}
    words = plan.collections[0].announcement.words if plan.collections else problem.domain_size
    bits = plan.parameters.get("bits_per_message", float(np.ceil(np.log2(words))))
    return {
        "kind": plan.kind,
        "messages_per_user": plan.messages_per_user,
        "bits_per_user": plan.messages_per_user * bits,
        "mse_expected": method.expected_mse(plan, counts),
        "parameters": to_json(plan.chosen, sort_keys=True),
    }
