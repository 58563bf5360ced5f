"""What `plan` says beyond its numbers: in words, backwards from an error, for other values, beside other protocols."""

from __future__ import annotations

import argparse
import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.terminal import complain, integer, level_privacy, number
from segshuffle.errors import ParameterError

if TYPE_CHECKING:
    from segshuffle.accounting.collections.levels import UserGuarantee
    from segshuffle.arrays import FloatArray
    from segshuffle.protocols.base import Plan, Problem
    from segshuffle.rehearsal.foresight import Planner

_WIDTH = 80


@dataclass(frozen=True)
class Relative:
    """An error as a share of what is estimated."""

    share: float


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
        "j^-EXPONENT says, and users hold S items",
    )
    asked.add_argument(
        "--top", type=integer, default=20, metavar="K", help="how many of the guess's most frequent items (default 20)"
    )
    asked.add_argument(
        "--least",
        choices=["messages", "epsilon"],
        default="messages",
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


def check(options: argparse.Namespace) -> None:
    """Refuse what does not go together, before anything is planned."""
    from segshuffle.rehearsal.what_if import asked

    guessed = options.zipf is not None or options.item_frequencies is not None
    if options.top < 1:
        raise ParameterError("top", options.top, "an integer >= 1")
    if options.zipf is not None and options.item_frequencies is not None:
        raise ParameterError("zipf", options.zipf, "left out with --item-frequencies")
    relative = isinstance(options.target_error, Relative)
    if relative and not guessed:
        raise ParameterError(
            "target-error", f"{100 * options.target_error.share:g}%", "given with --zipf or --item-frequencies"
        )
    if options.least == "epsilon" and not relative:
        raise ParameterError("least", options.least, "given with --target-error P%")
    _check_kinds(options, relative=relative)
    varied = asked(options.what_if) if options.what_if else {}
    if options.item_frequencies is not None and {"domain-size", "set-size"} & set(varied):
        raise ParameterError("what-if", options.what_if, "of users, epsilon or delta with --item-frequencies")


def _check_kinds(options: argparse.Namespace, *, relative: bool) -> None:
    """Refuse what only some accountants and blankets can do."""
    for name in ("what_if", "alternatives", "zipf"):
        if getattr(options, name) and options.accountant == "published":
            raise ParameterError(name.replace("_", "-"), getattr(options, name), "left out with --accountant published")
    if (options.what_if or relative) and options.blanket in ("all", "best"):
        allowed = "one of poisson, clustered, signed with --what-if or --target-error P%"
        raise ParameterError("blanket", options.blanket, allowed)
    if options.what_if and isinstance(options.target_error, float):
        raise ParameterError("target-error", options.target_error, "a percentage, or left out, with --what-if")
    if options.plot is not None and (not options.what_if or options.plot.suffix not in (".png", ".pdf", ".svg")):
        raise ParameterError("plot", str(options.plot), "a file that ends in .png, .pdf or .svg, with --what-if")


def guess(options: argparse.Namespace, problem: Problem) -> FloatArray | None:
    """The items' shares by the exponent that was given."""
    from segshuffle.protocols.padding import zipf_shares

    return None if options.zipf is None else zipf_shares(problem.set_size, problem.domain_size, options.zipf)


def planner(options: argparse.Namespace, spent: float) -> Planner:
    """Makes a plan for a budget of round 2 and a problem, as the options say."""
    from segshuffle.protocols.messages.budget import left_for_items
    from segshuffle.rehearsal.planning import method

    most = None if options.max_messages is None else left_for_items(options.max_messages, spent)

    def make(budget: float | None, problem: Problem) -> Plan:
        limits = [each for each in (budget, most) if each is not None]
        made = method(
            options.blanket,
            copies_max=options.copies_max,
            max_messages=min(limits) if limits else None,
            equal_copies=options.equal_copies,
        )
        return made.plan(problem)

    return make


def backwards(options: argparse.Namespace, problem: Problem, shares: FloatArray, make: Planner) -> Plan:
    """The plan with the fewest messages, or the least epsilon, for an error of the top items."""
    from segshuffle.rehearsal.foresight import fewest_messages, least_epsilon

    for name in ("blanket_per_user", "blanket_cap"):
        if getattr(options, name) is not None:
            raise ParameterError(name.replace("_", "-"), getattr(options, name), "left out with --target-error")
    search = least_epsilon if options.least == "epsilon" else fewest_messages
    return search(make, problem, shares, options.top, options.target_error.share)


def more(
    options: argparse.Namespace,
    problem: Problem,
    plan: Plan,
    shares: FloatArray | None,
    counts: FloatArray,
    spent: float,
) -> dict[str, Any]:
    """What is added to the answer to a problem, JSON-ready; the plan's levels may be others, found for an error."""
    from segshuffle.rehearsal.foresight import expected
    from segshuffle.rehearsal.wording import promises, resting_on, sending

    worth, n_users, guarantees = expected(plan, shares, options.top), plan.problem.n_users, _both_rounds(options, plan)
    found: dict[str, Any] = {
        "expected": worth.as_dict(n_users),
        "words": {
            "What users send": sending(plan, spent),
            "What they are promised": promises(plan, guarantees),
            "How far off estimates are": [*_asked(options, plan, spent), *worth.sentences(n_users)],
            "What that rests on": resting_on(plan),
        },
    }
    if guarantees:
        found["guarantees"] = [each.as_dict() for each in guarantees]
    if options.what_if:
        found["what_if"] = _table(options, problem, shares, spent)
    if options.alternatives:
        from segshuffle.rehearsal.alternatives import side_by_side

        complain("segshuffle plan: planning with every protocol, which takes seconds to minutes")
        found["alternatives"] = side_by_side(
            plan.problem,
            counts,
            copies_max=options.copies_max,
            max_messages=options.max_messages,
        )
    return found


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


def _asked(options: argparse.Namespace, plan: Plan, spent: float) -> list[str]:
    """Which question the plan answers."""
    if not isinstance(options.target_error, Relative):
        return []
    sizes = ", ".join(f"{level:g}" for level in plan.problem.levels)
    what = f"The fewest messages, {plan.messages_per_user + spent:.4g} a user,"
    if options.least == "epsilon":
        what = f"The least epsilon{'s in proportion' if len(plan.problem.levels) > 1 else ''}, {sizes},"
    return [f"{what} with {100 * options.target_error.share:g} % or less for the top {options.top} (to within 1 %)."]


def _table(
    options: argparse.Namespace, problem: Problem, shares: FloatArray | None, spent: float
) -> list[dict[str, Any]]:
    """Rows of the what-if table; with a guess by an exponent it is made anew for every size."""
    from segshuffle.rehearsal import what_if
    from segshuffle.rehearsal.foresight import expected

    make = planner(options, spent)
    values = what_if.asked(options.what_if)

    def numbers(other: Problem) -> dict[str, Any]:
        guessed = guess(options, other) if options.zipf is not None else shares
        if isinstance(options.target_error, Relative) and guessed is not None:
            plan = backwards(options, other, guessed, make)
        else:
            plan = make(None, other)
        worth = expected(plan, guessed, options.top)
        relative = {} if worth.relative is None else {"top_error_%": 100 * worth.relative}
        least = {"least_epsilon": plan.problem.levels[0]} if options.least == "epsilon" else {}
        return {
            **least,
            "messages": plan.messages_per_user + spent,
            "error_users": worth.deviation * other.n_users,
            "error_%": 100 * worth.deviation,
            **relative,
        }

    rows = what_if.table(problem, values, numbers)
    if options.plot is not None:
        error = "top_error_%" if shares is not None else "error_%"
        label = f"error of the top {options.top}, % of their share" if shares is not None else "error, % of the users"
        what_if.draw(rows, list(values), {error: label, "messages": "messages per user"}, options.plot)
    return rows


def as_text(found: dict[str, Any], n_users: int) -> str:
    """The same for people, 80 columns wide."""
    parts = [f"{title}:\n{_wrapped(sentences)}" for title, sentences in found["words"].items()]
    if "what_if" in found:
        from segshuffle.rehearsal.what_if import as_text as table

        columns = list(dict.fromkeys(name for row in found["what_if"] for name in row if name != "none"))
        reasons = list(dict.fromkeys(row["none"] for row in found["what_if"] if row["none"]))
        said = (
            "error: standard deviation of a rare item's estimate; top_error: largest of the top items, of their share"
        )
        parts.append("\n".join([table(found["what_if"], columns), _wrapped([said, *reasons])]))
    if "alternatives" in found:
        from segshuffle.rehearsal.alternatives import as_text as compared

        said = "+/-: root of the mean squared error of an item, in users. Only exact and upper are proven."
        parts.append("\n".join([compared(found["alternatives"], n_users), _wrapped([said])]))
    return "\n\n".join(parts)


def _wrapped(sentences: list[str]) -> str:
    wrap: Callable[[str], str] = lambda each: textwrap.fill(  # noqa: E731
        each, _WIDTH, initial_indent="  ", subsequent_indent="    "
    )
    return "\n".join(map(wrap, sentences))
