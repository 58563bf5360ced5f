"""What `plan` says beyond its numbers: in words, backwards from an error, for other values, beside other protocols."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.blankets import TOP, Planner, Relative
from segshuffle.cli.terminal import complain, integer, level_privacy, number

if TYPE_CHECKING:
    from segshuffle.accounting.collections.levels import UserGuarantee
    from segshuffle.protocols.base import Plan, Problem


def target(text: str) -> float | Relative:
    """Read an error: a number, or a percentage."""
    if not text.endswith("%"):
        return number(text)
    share = number(text[:-1]) / 100
    if not 0.0 < share < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage above 0, such as 10%")
    return Relative(share)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that are about the future."""
    asked = parser.add_argument_group("what the estimates will be worth")
    asked.add_argument(
        "--zipf",
        type=number,
        metavar="EXPONENT",
        help="guess of the items' frequencies, instead of --item-frequencies: the j-th item is held as often as "
        "j^-EXPONENT says, and users hold S items, or --mean-size of them",
    )
    asked.add_argument(
        "--top",
        type=integer,
        metavar="K",
        help=f"how many of the guess's most frequent items (default {TOP}): with --zipf, --top or --target-error P%% "
        "plans are for them, not for all items",
    )
    asked.add_argument(
        "--mean-size",
        type=number,
        metavar="MEAN",
        help="with --sets at-most: how many items users hold on average, as believed beforehand, in (0, S]",
    )
    asked.add_argument(
        "--least",
        choices=["messages", "epsilon"],
        help="with --target-error P%%: the fewest messages that reach it, at the levels given, or the least epsilon, "
        "all levels in proportion (default: messages)",
    )
    asked.add_argument(
        "--what-if",
        metavar="KEY=VALUES,...",
        help="also plan for other values of one or two of users, epsilon (of the lowest level), delta, set-size, "
        "domain-size: users=1e4,1e5,epsilon=0.5:2/4",
    )
    asked.add_argument("--plot", type=Path, metavar="FILE", help="with --what-if: draw the table (.png, .pdf or .svg)")
    asked.add_argument(
        "--alternatives", action="store_true", help="also plan with every protocol of the project (seconds to minutes)"
    )


def more(options: argparse.Namespace, problem: Problem, plan: Plan, planner: Planner) -> dict[str, Any]:
    """What is added to the answer to a problem, JSON-ready; the plan's levels may be others, found for an error."""
    from segshuffle.rehearsal.foresight import expected
    from segshuffle.rehearsal.wording import promises, resting_on, sending

    n_users, guarantees = plan.problem.n_users, _both_rounds(options, plan)
    worth = expected(plan, planner.shares(plan.problem), planner.top)
    found: dict[str, Any] = {
        "expected": worth.as_dict(n_users),
        "words": {
            "What users send": sending(plan, planner.spent),
            "What they are promised": promises(plan, guarantees),
            "How far off estimates are": [*_asked(plan, planner), *worth.sentences(n_users)],
            "What that rests on": [*resting_on(plan), *_believed(options)],
        },
    }
    if guarantees:
        found["guarantees"] = [each.as_dict() for each in guarantees]
    if options.what_if:
        found["what_if"] = _table(options, problem, planner)
    if options.alternatives:
        from segshuffle.rehearsal.alternatives import side_by_side

        complain("segshuffle plan: planning with every protocol, which takes seconds to minutes")
        found["alternatives"] = side_by_side(
            plan.problem,
            planner.counts(plan.problem),
            copies_max=options.copies_max,
            max_messages=options.max_messages,
        )
    return found


def _believed(options: argparse.Namespace) -> list[str]:
    """What errors rest on beside a plan."""
    if options.mean_size is None:
        return []
    return [f"Errors: users hold {options.mean_size:g} items on average, as --mean-size says."]


def _both_rounds(options: argparse.Namespace, plan: Plan) -> tuple[UserGuarantee, ...]:
    """Guarantees by level after both rounds, where the levels are private."""
    from segshuffle.accounting.collections.levels import compose_rounds

    problem, privacy = plan.problem, level_privacy(options)
    if privacy is None or not problem.assumptions.private_levels:
        return ()
    return compose_rounds(
        levels=problem.levels,
        delta=problem.delta,
        kind=plan.kind,
        levels_epsilon=privacy.epsilon,
        levels_delta=privacy.delta,
        level_deltas=problem.level_deltas,
    )


def _asked(plan: Plan, planner: Planner) -> list[str]:
    """Which question the plan answers."""
    asked = planner.options.target_error
    if not isinstance(asked, Relative):
        return []
    sizes = ", ".join(f"{level:g}" for level in plan.problem.levels)
    what = f"The fewest messages, {plan.messages_per_user + planner.spent:.4g} a user,"
    if planner.options.least == "epsilon":
        what = f"The least epsilon{'s in proportion' if len(plan.problem.levels) > 1 else ''}, {sizes},"
    return [f"{what} with {100 * asked.share:g} % or less for the top {planner.top} (to within 1 %)."]


def _table(options: argparse.Namespace, problem: Problem, planner: Planner) -> list[dict[str, Any]]:
    """Rows of the what-if table; with a guess by an exponent it is made anew for every size."""
    from segshuffle.rehearsal import what_if
    from segshuffle.rehearsal.foresight import expected

    values = what_if.asked(options.what_if)

    def numbers(other: Problem) -> dict[str, Any]:
        plan = planner.plan(other)
        worth = expected(plan, planner.shares(other), planner.top)
        relative = {} if worth.relative is None else {"top_error_%": 100 * worth.relative}
        least = {"least_epsilon": plan.problem.levels[0]} if options.least == "epsilon" else {}
        return {
            **least,
            "messages": plan.messages_per_user + planner.spent,
            "error_users": worth.deviation * other.n_users,
            "error_%": 100 * worth.deviation,
            **relative,
        }

    rows = what_if.table(problem, values, numbers)
    if options.plot is not None:
        guessed = planner.shares(problem) is not None
        error = "top_error_%" if guessed else "error_%"
        label = f"error of the top {planner.top}, % of their share" if guessed else "error, % of the users"
        what_if.draw(rows, list(values), {error: label, "messages": "messages per user"}, options.plot)
    return rows
