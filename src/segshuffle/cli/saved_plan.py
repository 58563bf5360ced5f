"""A saved plan in the place of a new one: nothing else that was asked for may contradict it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from segshuffle.cli.terminal import counted
from segshuffle.errors import DataError, ParameterError
from segshuffle.pipeline.design import level_counts

if TYPE_CHECKING:
    from segshuffle.datasets.transactions import Transactions
    from segshuffle.planning.documents import Document
    from segshuffle.protocols.base import Plan


def read_plan(options: argparse.Namespace) -> Document:
    """Read the plan of ``--plan``, if the other options agree with it; the items to read are then the plan's.

    Raises
    ------
    ParameterError
        If an option asks for something else; names its value and the plan's.
    """
    from segshuffle.planning.documents import read_document
    from segshuffle.protocols.messages.level_counts import level_messages

    document = read_document(options.plan)
    plan, problem, copies = document.plan, document.plan.problem, document.plan.scheme.copies
    deltas = options.delta and options.delta * (1 if len(options.delta) > 1 else len(problem.levels))
    where = f"as in {options.plan}, or left out"
    same: tuple[tuple[str, object, object], ...] = (
        ("levels", options.levels and tuple(level for level, _ in options.levels), problem.levels),
        ("delta", deltas, problem.deltas),
        ("set-size", options.set_size, problem.set_size),
        ("domain-size", options.domain_size, problem.domain_size),
        ("blanket", options.blanket, plan.scheme.law.name),
        ("honest-fraction", options.honest_fraction, problem.assumptions.honest_fraction),
        ("rounds", options.rounds, problem.assumptions.rounds),
    )
    for name, asked, planned in same:
        if asked not in (None, planned):
            raise ParameterError(name, asked, f"{planned}, {where}")
    messages = plan.messages_per_user + level_messages(problem.honest_users, len(copies), None)
    for name, most, needed in (
        ("copies-max", options.copies_max, max(copies)),
        ("max-messages", options.max_messages, messages),
    ):
        if most is not None and not most >= needed:
            raise ParameterError(name, most, f"at least {needed:.10g}, {where}")
    if options.equal_copies and len(set(copies)) > 1:
        told = ", ".join(f"{each:.4g}" for each in copies)
        raise ParameterError("equal-copies", True, f"False, with copies {told}, {where}")
    _take_items(options, document)
    return document


def _take_items(options: argparse.Namespace, document: Document) -> None:
    """Take the plan's items for those of the file, by name or by number."""
    from segshuffle.datasets.reading import read_items

    given = None if options.items is None else read_items(options.items)
    if given is not None and set(given) != set(document.items or given):
        planned = f"the list of the {len(document.items or ())} items in {options.plan}, or left out"
        raise ParameterError("items", str(options.items), planned)
    options.items, options.domain_size = document.items or given, None
    if options.items is None:
        options.domain_size = document.plan.problem.domain_size
    elif len(options.items) != document.plan.problem.domain_size:
        size = document.plan.problem.domain_size
        raise ParameterError("items", f"{len(options.items)} items", f"a list of {size}, as many as in {options.plan}")


def serving(plan: Plan, users: Transactions, options: argparse.Namespace) -> tuple[Plan, list[str]]:
    """Return the plan as it serves the users of the file, and what was assumed for that.

    Raises
    ------
    DataError
        If they are fewer than the guarantee relies on.
    """
    problem, n = plan.problem, users.n_users
    if n < problem.honest_users:
        raise DataError(
            f"{users.label}: {n} users, but the guarantee of {options.plan} relies on {problem.honest_users}. Plan for "
            "fewer users, or with a smaller --honest-fraction."
        )
    counts = users.level_counts(len(problem.levels))
    if counts is None and options.levels is not None and any(count is not None for _, count in options.levels):
        counts = tuple(number for _, number in counted(options.levels, n))
    if counts is None and n == problem.n_users:
        counts = problem.level_counts
    if counts is None:
        counts = level_counts(n, [each / problem.n_users for each in problem.level_counts])
    assumed = []
    if n != problem.n_users:
        assumed.append(f"all {n} users of the file take part, though the plan is for {problem.n_users}")
    return plan if counts == problem.level_counts else plan.of_participants(counts), assumed
