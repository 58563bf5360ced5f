"""Error over messages per user at equal (epsilon, delta): our protocol and others, with many of their plans.

A case has a size of the collection, items per user, an epsilon and a split. With split "one" all users have level
epsilon; the levels of a split of the configuration double, with epsilon in the middle. Our protocol makes a plan for
every budget of messages, and those of the literature for every value of their own option. Errors are closed forms for
uniform frequencies, and no data are used.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.plans.method import Method, MethodEntry
from segshuffle.plans.plan import Plan, Problem, uniform_item_counts
from segshuffle.plans.planner import Search, least_error
from segshuffle.plans.registry import every, made
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.reproduction.design import Setting
from segshuffle.reproduction.studies import planning
from segshuffle.reproduction.tables import Rows, to_json

#: What every error is divided by.
MEASURE = "curator-weighted"
COLUMNS = (
    *("n_users", "domain_size", "set_size", "epsilon", "split", "method", "accounting", "role", "kind"),
    *("messages_per_user", "mse_expected", "error_ratio", "parameters", "refused"),
)
_ONE = "one"
_MOST_COPIES = 64.0


def problem_of(
    config: Mapping[str, Any], *, n_users: int, domain_size: int, set_size: int, epsilon: float, split: str
) -> Problem:
    """Return what is to be planned: delta = delta_times_n/n as everywhere.

    Parameters
    ----------
    config : mapping
        Keys delta_times_n and splits.
    n_users, domain_size, set_size : int
        Users n, items d, items of every user s.
    epsilon : float
        The level, or the middle one of three.
    split : str
        "one" or the name of a split of the configuration.
    """
    shares = {_ONE: [1.0], **config["splits"]}[split]
    levels = [epsilon * 2.0 ** (k - len(shares) // 2) for k in range(len(shares))]
    asked = {**config, "levels": levels, "splits": {split: shares}}
    return planning.problem_of(asked, Setting("any", n_users, set_size, domain_size), split)


def plans_of(
    entry: MethodEntry, problem: Problem, budgets: Sequence[float], known: dict[Search, Search]
) -> Iterator[tuple[Method, Callable[[], Plan]]]:
    """Yield a method and its planners: one for every budget if it takes budgets, else one per value of its option.

    `known` has the searches of the methods before, of which some begin with the same one.
    """
    for options in entry.comparisons:
        method: Any = made(entry, {"copies_max": _MOST_COPIES}, options)
        if isinstance(method, ProvenSegmented):
            # what is computed for one budget serves the larger ones
            searches = [known.setdefault(each, each) for each in method.searches(problem)]
            for budget in sorted(budgets):
                yield method, partial(least_error, searches, budget)
        else:
            yield method, partial(entry.plan, method, problem)


def size_table(config: Mapping[str, Any], *, n_users: int, domain_size: int, set_size: int) -> Rows:
    """Make all plans of one size, for every epsilon and split of the section ``pareto``.

    Parameters
    ----------
    config : dict
        Keys delta_times_n, splits and pareto, whose budgets are messages per item that a user holds.
    n_users, domain_size, set_size : int
        The size.

    Returns
    -------
    list of dict
        Columns as in `COLUMNS`. A plan that a method cannot make is a row without numbers whose column "refused" says
        why.
    """
    section = config["pareto"]
    budgets = [budget * set_size for budget in section["budgets"]]
    rows: Rows = []
    for epsilon, split in product(map(float, section["epsilons"]), (_ONE, section["split"])):
        case: dict[str, Any] = {"n_users": n_users, "domain_size": domain_size, "set_size": set_size}
        case |= {"epsilon": epsilon, "split": split}
        problem = problem_of(config, **case)
        counts = np.round(uniform_item_counts(problem)).astype(np.int64)
        plans, known = [], dict[Search, Search]()
        for each in every().values():
            head = {**case, "method": each.name, "accounting": each.accounting, "role": each.role}
            plans += [
                head | numbers_of(method, make, counts) for method, make in plans_of(each, problem, budgets, known)
            ]
        measure = next(plan["mse_expected"] for plan in plans if plan["method"] == MEASURE)
        # equal plans are listed once: some choices make no difference, such as more buckets than items
        plans = list({to_json(plan): plan for plan in plans}.values())
        rows += [{**plan, "error_ratio": plan.get("mse_expected", math.nan) / measure} for plan in plans]
    return [{name: row.get(name) for name in COLUMNS} for row in rows]


def numbers_of(method: Method, make: Callable[[], Plan], counts: Any) -> dict[str, Any]:
    """Return what a plan costs and reaches, or why there is none."""
    try:
        plan = make()
    except (InfeasibleError, ParameterError) as error:
        return {"refused": str(error)}
    return {
        "kind": plan.kind,
        "messages_per_user": plan.messages_per_user,
        "mse_expected": method.expected_mse(plan, counts),
        "parameters": to_json(plan.chosen, sort_keys=True),
    }
