"""Choose what users send, so that every level is private and the error least.

That is the blanket (uniformly random dummy messages that hide everybody's own) and, for each privacy level, the
probability of sending a held item, or the number of copies. Only public quantities may be used, never the data: put no
number here that was read off the users' items, or the guarantee breaks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.terminal import add_collection, integer, number, shown
from segshuffle.errors import DataError, InfeasibleError, ParameterError

if TYPE_CHECKING:
    from segshuffle.protocols.base import Problem


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--set-size", type=integer, required=True, metavar="S", help="items per user s (1 <= s <= d), the same for all"
    )
    add_collection(
        parser, about_levels="privacy levels with the number of users at each, e.g. 0.5:1250,1.0:2500,2.0:1e4"
    )
    parser.add_argument(
        "--blanket-per-user",
        type=number,
        metavar="M",
        help="dummy messages that a user sends on average; default: the number with the least error",
    )
    parser.add_argument(
        "--item-frequencies",
        metavar="LIST",
        help="share of the users that hold each item, d numbers with commas or a file of them: the error is given for "
        "them; default: uniform",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Plan with the chosen accountant."""
    from segshuffle.protocols.base import Problem, uniform_item_counts

    problem = Problem(
        domain_size=options.domain_size,
        set_size=options.set_size,
        levels=tuple(level for level, _ in options.levels),
        level_counts=tuple(users for _, users in options.levels),
        delta=options.delta,
    )
    counts = uniform_item_counts(problem)
    if options.item_frequencies is not None:
        counts = problem.n_users * _frequencies(options.item_frequencies, problem.domain_size, problem.set_size)
    values = (_proven if options.accountant == "proven" else _published)(options, problem, counts)
    public = {
        "levels": list(problem.levels),
        "level_counts": list(problem.level_counts),
        "delta": problem.delta,
        "accountant": options.accountant,
    }
    return shown({**values, **public}, as_json=options.json)


def _published(options: argparse.Namespace, problem: Problem, counts: Any) -> dict[str, Any]:
    from segshuffle.protocols.segmented import Segmented, expected_mse, least_blankets

    for name, value in (("copies-max", options.copies_max), ("max-messages", options.max_messages)):
        if value not in (None, 1.0):
            raise ParameterError(name, value, "left out with --accountant published")
    plan = Segmented(options.blanket_per_user).plan(problem)
    rates = plan.parameters["sampling_rates"]
    return {
        "blanket_per_user": plan.blanket_per_user,
        "sampling_rates": list(rates),
        "messages_per_user": plan.messages_per_user,
        "mse_bound": plan.mse_bound,
        "mse_sample": expected_mse(problem, plan.blanket_per_user, rates, counts),
        "m_min": _each_level(least_blankets, problem),
        "kind": plan.kind,
    }


def _proven(options: argparse.Namespace, problem: Problem, counts: Any) -> dict[str, Any]:
    from segshuffle.protocols.poisson import PoissonSegmented, least_blankets
    from segshuffle.protocols.segmented import mse_bound

    method = PoissonSegmented(options.blanket_per_user, options.copies_max, options.max_messages)
    plan = method.plan(problem)
    copies = plan.parameters["copies"]
    # up to one copy, copies are sampling rates and the paper's error bound applies
    sampling = max(copies) <= 1.0
    return {
        "blanket_per_user": plan.blanket_per_user,
        **({"sampling_rates": list(copies)} if sampling else {"copies": list(copies)}),
        "messages_per_user": plan.messages_per_user,
        "mse_bound": mse_bound(problem, plan.blanket_per_user, copies) if sampling else None,
        "mse_sample": method.expected_mse(plan, counts),
        "m_min": _each_level(least_blankets, problem),
        "certificate": plan.parameters["certificate"],
        "kind": plan.kind,
    }


def _each_level(least_blankets: Callable[[Problem], tuple[float, ...]], problem: Problem) -> list[float | None]:
    """Least blanket at which each level sends every item; None if no blanket will do, which is no need of the plan."""
    found: list[float | None] = []
    for level in problem.levels:
        try:
            found += least_blankets(replace(problem, levels=(level,), level_counts=(problem.n_users,)))
        except InfeasibleError:
            found.append(None)
    return found


def _frequencies(text: str, domain_size: int, set_size: int) -> Any:
    """Item frequencies from a comma-separated list or a file with one per line or comma."""
    import numpy as np

    try:
        values = np.array(_numbers(text))
    except ValueError:
        try:
            values = np.array(_numbers(Path(text).read_text(encoding="utf-8")))
        except (ValueError, OSError) as error:
            raise DataError(f"item-frequencies = {text!r} is neither a list of numbers nor a file: {error}.") from error
    if values.size != domain_size:
        raise ParameterError("item-frequencies", f"{values.size} numbers", f"domain-size = {domain_size} numbers")
    if not ((values >= 0) & (values <= 1)).all() or abs(values.sum() - set_size) > 1e-6 * set_size:
        raise ParameterError("item-frequencies", text, f"in [0, 1] with sum set-size = {set_size}")
    return values


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.replace(",", " ").split()]
