"""Choose what users send, so that every level is private and the error least.

That is the blanket (uniformly random dummy messages that hide everybody's own) and, for each privacy level, the
probability of sending a held item, or the number of copies. Inputs marked [public] go into the plan that everybody
sees. Put no number there that was read off the users' items: values that depend on the data break the guarantee.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.blankets import law_names
from segshuffle.cli import foresight
from segshuffle.cli.terminal import (
    add_assumptions,
    add_collection,
    complain,
    counted,
    integer,
    level_privacy,
    mark_public,
    number,
    saying,
    shown,
    whole,
)
from segshuffle.errors import DataError, InfeasibleError, ParameterError
from segshuffle.protocols.public import PUBLIC_INPUTS

if TYPE_CHECKING:
    from segshuffle.cli.blankets import Planner
    from segshuffle.protocols.base import Plan, Problem

#: Seconds of work from which on it is announced, and refused.
_LONG, _LONGEST = 10.0, 600.0
#: Plans that the search for the least epsilon makes.
_EPSILONS = 12
_REST = "More: --details, --json, and --blanket for other dummies."
#: Shares of honest users for which a plan's epsilons are shown.
_HONEST = (1.0, 0.95, 0.9, 0.8, 0.5)
#: Shares of corrupt users for which their influence is shown, beside a single one.
_CORRUPT = (0.01, 0.1)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--set-size", type=integer, required=True, metavar="S", help="items per user s, in [1, d], see --sets"
    )
    parser.add_argument(
        "--domain-size", type=integer, required=True, metavar="D", help="number of items d, in [2, 1e7]"
    )
    parser.add_argument(
        "--users",
        type=integer,
        metavar="N",
        help="number of users, in [1, 4e15], where --levels has shares such as 0.5:25%%",
    )
    add_collection(
        parser,
        about_levels="privacy levels, in (0, 100], with the number of users at each, e.g. 0.5:1250,1.0:2500,2.0:1e4",
    )
    parser.add_argument(
        "--blanket-per-user",
        type=number,
        metavar="M",
        help="dummy messages that a user sends on average, in (0, 1e9]; default: the number with the least error",
    )
    parser.add_argument(
        "--blanket-cap",
        type=_cap,
        metavar="C",
        help="proven only: most dummy messages of one user, 1 or more, or 'auto'; together with a shuffler that takes "
        "no more messages from anybody than an honest user may send, it bounds what liars can do to the estimates",
    )
    parser.add_argument(
        "--blanket",
        choices=[*law_names(), "best", "all"],
        help="proven only: law of the dummies. Clusters have the same error for fewer messages, dummies with a sign "
        "less error for more where users hold few items. best takes that of least error for --max-messages, or of "
        "fewest messages for --target-error; all compares them, and plans with none. Without this option the plan is "
        "that of single dummies, poisson, with a table of those that do not take long to plan beside it",
    )
    parser.add_argument(
        "--target-error",
        type=foresight.target,
        metavar="ERROR",
        help="proven only: the plan has the fewest messages for it. Either P%%, the largest standard deviation of each "
        "of the --top items as a percentage of its share; or a number, the expected squared error of all items "
        "together, at the frequencies given or equally frequent ones",
    )
    parser.add_argument(
        "--item-frequencies",
        metavar="LIST",
        help="share of the users that hold each item, d numbers with commas or a file of them: the error is given for "
        "them; default: uniform",
    )
    add_assumptions(parser)
    parser.add_argument(
        "--sets",
        choices=["exactly", "at-most"],
        default="exactly",
        help="whether every user holds exactly S items, or at most S (then nobody pads; default: exactly)",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="PLAN.json",
        help="write the plan to a file, as client and estimate read it",
    )
    parser.add_argument(
        "--items", type=Path, metavar="FILE", help="with --save: public list of the names of all items, one per line"
    )
    foresight.add_options(parser)
    parser.add_argument("--details", action="store_true", help="print every number and what it means, too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    mark_public(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Plan with the chosen accountant."""
    from segshuffle.cli.blankets import Planner
    from segshuffle.cli.plan_checks import check
    from segshuffle.protocols.assumptions import Assumptions
    from segshuffle.protocols.base import Problem
    from segshuffle.protocols.cautions import level_cautions
    from segshuffle.protocols.messages.budget import left_for_items, level_messages

    check(options)
    privacy = level_privacy(options)
    levels = counted(options.levels, options.users)
    problem = Problem(
        domain_size=options.domain_size,
        set_size=options.set_size,
        levels=tuple(level for level, _ in levels),
        level_counts=tuple(users for _, users in levels),
        delta=options.delta,
        assumptions=Assumptions(
            sets=options.sets,
            honest_fraction=options.honest_fraction,
            private_levels=privacy is not None and len(options.levels) > 1,
            rounds=options.rounds,
        ),
        level_deltas=options.level_deltas,
    )
    spent = level_messages(problem.honest_users, len(problem.levels), privacy)
    given = None if options.item_frequencies is None else _frequencies(options.item_frequencies, problem)
    unnamed, options.blanket = options.blanket is None, options.blanket or "poisson"
    planner = Planner(options, spent, given)
    public = _public(options)
    made: Plan | None = None
    found: dict[str, Any] = {}
    rows = None
    if options.max_messages is not None:
        left_for_items(options.max_messages, spent)
    if options.accountant == "published":
        values = _published(problem, planner)
    elif options.blanket == "all":
        values, rows = {}, planner.compared(problem)
    else:
        plans = _EPSILONS if options.least == "epsilon" else 1
        with _told_how_long(problem, plans * planner.seconds(options.blanket, problem)):
            made = planner.plan(problem)
        values = _proven(made, planner)
        if unnamed and options.blanket_per_user is None and options.blanket_cap is None:
            rows = planner.compared(made.problem, made)
        found = foresight.more(options, problem, made, planner)
        problem = made.problem
    if options.save is not None and made is not None:
        _save(options, made, problem)
    values = {**values, **({} if rows is None else {"blankets": rows})}
    if warnings := [*values.pop("warnings", ()), *level_cautions(spent)]:
        values["warnings"] = warnings
    inputs = {
        "domain_size": problem.domain_size,
        "set_size": problem.set_size,
        "levels": list(problem.levels),
        "level_counts": list(problem.level_counts),
        "delta": problem.delta,
        **({"level_deltas": list(problem.level_deltas)} if problem.level_deltas else {}),
        **({"mean_size": options.mean_size} if options.mean_size is not None else {}),
        "share_expected": problem.assumptions.honest_fraction,
        "accountant": options.accountant,
    }
    if options.json:
        return shown({**values, **inputs, **found, "public": public}, as_json=True)
    return _as_text(options, made, planner, {**values, **inputs}, found, public)


def _as_text(
    options: argparse.Namespace,
    made: Plan | None,
    planner: Planner,
    values: dict[str, Any],
    found: dict[str, Any],
    public: dict[str, str],
) -> str:
    """The answer for people: one screen, and the rest with --details."""
    from segshuffle.cli import plan_text

    rows, warnings, note = values.pop("blankets", None), values.pop("warnings", []), values.pop("note", None)
    beside = [] if rows is None else [plan_text.laws_table(rows, planner.top)]
    if made is not None:
        parts = [plan_text.decision(made, found, [note] if note else []), *beside]
        parts += plan_text.further(found, made.problem.n_users)
        parts.append(plan_text.details(found, values, public) if options.details else _REST)
    elif options.details:
        parts = [plan_text.details(found, values, public)]
    else:
        parts = beside or [shown(values, as_json=False)]
    told = [textwrap.fill(f"Warning: {each}", 80, subsequent_indent="  ") for each in warnings]
    return "\n\n".join([*parts[:1], *told, *parts[1:]])


def _save(options: argparse.Namespace, made: Plan, problem: Problem) -> None:
    """Write the plan, with the items' names."""
    from segshuffle.files import read_bounded
    from segshuffle.rehearsal.documents import Document, checked_names, write_document

    names = None
    if options.items is not None:
        try:
            lines = read_bounded(options.items, limit=2**28).decode("utf-8").splitlines()
            names = checked_names([line.strip() for line in lines if line.strip()], problem.domain_size)
        except (UnicodeDecodeError, DataError) as error:
            raise DataError(f"{options.items}: {error}") from error
    write_document(options.save, Document(made, names))


def _public(options: argparse.Namespace) -> dict[str, str]:
    """The inputs that must not depend on the data, and how they can be known without it."""
    guessed = options.item_frequencies is not None or options.zipf is not None
    left_out = {
        "item_frequencies": not guessed,
        "private_levels": options.level_epsilon is None,
        "level_deltas": not options.level_deltas,
        "mean_size": options.mean_size is None,
    }
    return {name: how for name, how in PUBLIC_INPUTS.items() if not left_out.get(name)}


def _published(problem: Problem, planner: Planner) -> dict[str, Any]:
    from segshuffle.protocols.segmented import Segmented, expected_mse, least_blankets

    plan = Segmented(planner.options.blanket_per_user).plan(problem)
    rates = plan.parameters["sampling_rates"]
    return {
        "blanket_per_user": plan.blanket_per_user,
        "sampling_rates": list(rates),
        "messages_per_user": plan.messages_per_user + planner.spent,
        "level_messages_per_user": planner.spent,
        "mse_bound": plan.mse_bound,
        "mse_sample": expected_mse(problem, plan.blanket_per_user, rates, planner.counts(problem)),
        "m_min": _each_level(least_blankets, problem),
        **_influence(plan),
        "kind": plan.kind,
        "warnings": list(plan.warnings),
    }


def _proven(plan: Plan, planner: Planner) -> dict[str, Any]:
    """Numbers of a plan with copies by level."""
    from segshuffle.cli.blankets import nothing_better
    from segshuffle.protocols.planner import least_blankets
    from segshuffle.protocols.proven import SINGLE, law_of
    from segshuffle.protocols.segmented import mse_bound

    problem, copies = plan.problem, plan.parameters["copies"]
    note = nothing_better(planner.options.blanket, plan)
    of_all_laws = {
        "blanket": law_of(plan).name,
        **planner.numbers(plan),
        **({"note": note} if note else {}),
        "level_messages_per_user": planner.spent,
        "sets": problem.assumptions.sets,
        "rounds": problem.assumptions.rounds,
        "honest_users": problem.honest_users,
        **_influence(plan),
        "warnings": list(plan.warnings),
    }
    if law_of(plan).name != SINGLE:
        return of_all_laws
    # up to one copy, copies are sampling rates and the paper's error bound applies
    sampling = max(copies) <= 1.0
    return {
        **of_all_laws,
        **({"sampling_rates": list(copies)} if sampling else {}),
        "mse_bound": mse_bound(problem, plan.blanket_per_user, copies) if sampling else None,
        "m_min": _each_level(least_blankets, problem),
        "epsilon_if_honest": _honesty(plan),
    }


@contextlib.contextmanager
def _told_how_long(problem: Problem, seconds: float) -> Iterator[None]:
    """A line before minutes of work, and one now and then while it lasts; a refusal before hours of it."""
    levels, s, d = len(problem.levels), problem.set_size, problem.domain_size
    size = f"{levels} levels and sets of {s} of {d} items take about {_minutes(seconds)} of a processor to plan"
    remedy = "fewer levels or a smaller set size take less"
    if seconds > _LONGEST:
        raise InfeasibleError(f"{size}, and more than {_minutes(_LONGEST)} are refused: {remedy}.")
    if seconds <= _LONG:
        yield
        return
    complain(f"segshuffle plan: {size}; {remedy}.")
    with saying(lambda spent: f"segshuffle plan: {_minutes(spent)} of about {_minutes(seconds)}", every=_LONG):
        yield


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _honesty(plan: Plan) -> list[dict[str, Any]]:
    """Epsilon of every level at its delta, by the share of users who really are honest."""
    from segshuffle.protocols.received import epsilons

    problem = plan.problem
    if problem.pairs == 0:
        return []
    return [
        {"share": share, "epsilons": [*map(_finite, epsilons(plan, max(1, math.floor(share * problem.n_users))))]}
        for share in _HONEST
    ]


def _influence(plan: Plan) -> dict[str, Any]:
    """The most that liars can do: one, and shares of all users."""
    from segshuffle.protocols.messages.influence import influence

    one, n_users = influence(plan), plan.problem.n_users
    together = {number: one.of(number) for number in (1, *(math.ceil(share * n_users) for share in _CORRUPT))}
    return {
        "blanket_cap": plan.parameters.get("blanket_cap"),
        "most_item_messages": _finite(one.most_messages),
        "influence": [
            {"corrupt_users": number, "item": _finite(each.item), "all_items": _finite(each.all_items)}
            for number, each in together.items()
        ],
    }


def _finite(value: float) -> float | None:
    """None where there is no bound: JSON has no infinity."""
    return value if math.isfinite(value) else None


def _cap(text: str) -> int | str:
    try:
        return text if text == "auto" else whole(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither an integer nor auto") from None


def _each_level(least_blankets: Callable[[Problem], tuple[float, ...]], problem: Problem) -> list[float | None]:
    """Least blanket at which each level sends every item; None if no blanket will do, which is no need of the plan."""
    found: list[float | None] = []
    for level, delta in zip(problem.levels, problem.deltas, strict=True):
        alone = replace(problem, levels=(level,), level_counts=(problem.n_users,), delta=delta, level_deltas=())
        try:
            found += least_blankets(alone)
        except InfeasibleError:
            found.append(None)
    return found


def _frequencies(text: str, problem: Problem) -> Any:
    """Item frequencies from a comma-separated list or a file with one per line or comma."""
    import numpy as np

    told = text if len(text) <= 40 else text[:37] + "..."
    try:
        values = np.array(_numbers(text))
    except ValueError:
        try:
            values = np.array(_numbers(Path(text).read_text(encoding="utf-8")))
        except (ValueError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise DataError(
                f"item-frequencies = {told!r} is neither a list of numbers nor a file: {reason}."
            ) from error
    d, s = problem.domain_size, problem.set_size
    if values.size != d:
        raise ParameterError("item-frequencies", f"{values.size} numbers", f"domain-size = {d} numbers")
    exactly = problem.assumptions.sets == "exactly"
    excess = values.sum() - s
    if not ((values >= 0) & (values <= 1)).all() or (abs(excess) if exactly else excess) > 1e-6 * s:
        raise ParameterError(
            "item-frequencies",
            told,
            f"in [0, 1] with sum {'' if exactly else 'at most '}set-size = {s} (the sum is {values.sum():.10g})",
        )
    return values


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.replace(",", " ").split()]
