"""A plan for people: the decision and the alternatives on one screen, and all the rest on request."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table

from segshuffle.cli.terminal import WIDTH, shown, wrapped
from segshuffle.errors import InfeasibleError
from segshuffle.planning.question import TOP, Answer, Question
from segshuffle.planning.wording import factor
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.messages.level_counts import level_cautions
from segshuffle.protocols.method import influence
from segshuffle.protocols.planner import least_blankets
from segshuffle.protocols.proven import SINGLE
from segshuffle.protocols.public import IN_GENERAL, PUBLIC_INPUTS
from segshuffle.protocols.received import epsilons
from segshuffle.protocols.segmented import Segmented, mse_bound
from segshuffle.protocols.segmented import least_blankets as published_least_blankets

_REST = "More: --details, --json, and --blanket for other dummies."
#: Shares of honest users for which a plan's epsilons are shown.
_HONEST = (1.0, 0.95, 0.9, 0.8, 0.5)
#: Shares of corrupt users for which their influence is shown, beside a single one.
_CORRUPT = (0.01, 0.1)
#: Levels that are shown; a plan with more has the lowest and the highest of them.
_LEVELS = 6


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows below the names of their columns, 80 characters wide; the first column is text, the others are numbers."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for k, name in enumerate(columns):
        made.add_column(name, justify="right" if k else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(_cell, row))
    console = Console(width=WIDTH, color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as written:
        console.print(made)
    return "\n".join(line.rstrip() for line in written.get().rstrip().splitlines())


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _paragraphs(sentences: Sequence[str]) -> str:
    """Indent sentences, and their further lines more."""
    return wrapped(sentences, "  ", "  ")


def _titled(words: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{title}:\n{_paragraphs(sentences)}" for title, sentences in words.items()]


def _warned(warnings: Sequence[str]) -> list[str]:
    return [wrapped([f"Warning: {each}"], hang="  ") for each in warnings]


def of_proven(found: Answer, options: argparse.Namespace, more: Mapping[str, Any]) -> str:
    """Say the answer: JSON, or one screen for people, with the rest by --details."""
    values, problem, public = _proven(found), found.plan.problem, _public(options)
    if options.json:
        whole = {
            **values,
            **_if_any(note=found.note, blankets=found.rows, warnings=found.warnings),
            **_inputs(problem, options),
            "expected": found.worth.as_dict(problem.n_users),
            "words": found.words,
            **_if_any(guarantees=[each.as_dict() for each in found.guarantees]),
            **more,
            "public": public,
        }
        return shown(whole, as_json=True)
    parts = [_decision(found), *_warned(found.warnings)]
    if found.beside:
        parts.append(_laws_table(found.rows, problem, found.question.top or TOP))
    parts += _further(more, problem.n_users)
    parts.append(_details(found.words, {**values, **_inputs(problem, options)}, public) if options.details else _REST)
    return "\n\n".join(parts)


def _if_any(**values: Any) -> dict[str, Any]:
    """Leave out what there is nothing of."""
    return {name: value for name, value in values.items() if value}


def of_published(plan: Plan, question: Question, options: argparse.Namespace) -> str:
    """Say the plan by the paper's analysis: JSON, or a line for every number."""
    rates, spent = plan.scheme.copies, question.level_messages
    values = {
        "blanket_per_user": plan.blanket_per_user,
        "sampling_rates": rates,
        "messages_per_user": plan.messages_per_user + spent,
        "level_messages_per_user": spent,
        "mse_bound": plan.mse_bound,
        "mse_sample": Segmented().expected_mse(plan, question.guess.counts(plan.problem)),
        "m_min": _each_level(published_least_blankets, plan.problem),
        **_influence(plan),
        "kind": plan.kind,
        **_inputs(plan.problem, options),
    }
    warnings, public = [*plan.warnings, *level_cautions(spent)], _public(options)
    if options.json:
        return shown({**values, **_if_any(warnings=warnings), "public": public}, as_json=True)
    text = _details({}, values, public) if options.details else shown(values, as_json=False)
    return "\n\n".join([text, *_warned(warnings)])


def _inputs(problem: Problem, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "domain_size": problem.domain_size,
        "set_size": problem.set_size,
        "levels": problem.levels,
        "level_counts": problem.level_counts,
        "delta": problem.delta,
        **_if_any(level_deltas=problem.level_deltas, mean_size=options.mean_size),
        "share_expected": problem.assumptions.honest_fraction,
    }


def _public(options: argparse.Namespace) -> dict[str, str]:
    """Return the inputs that must not depend on the data, and how they can be known without it."""
    left_out = {
        "item_frequencies": options.item_frequencies is None and options.zipf is None,
        "private_levels": options.hide_level is None,
        "level_deltas": len(options.delta) == 1,
        "mean_size": options.mean_size is None,
    }
    return {name: how for name, how in PUBLIC_INPUTS.items() if not left_out.get(name)}


def _proven(found: Answer) -> dict[str, Any]:
    """Return every number of a plan with copies by level."""
    plan = found.plan
    problem, copies = plan.problem, plan.scheme.copies
    of_all_laws = {
        "blanket": plan.scheme.law.name,
        **found.numbers,
        "level_messages_per_user": found.question.level_messages,
        "sets": problem.assumptions.sets,
        "rounds": problem.assumptions.rounds,
        "honest_users": problem.honest_users,
        **_influence(plan),
    }
    if plan.scheme.law.name != SINGLE:
        return of_all_laws
    # up to one copy, copies are sampling rates and the paper's error bound applies
    sampling = max(copies) <= 1.0
    return {
        **of_all_laws,
        **_if_any(sampling_rates=copies if sampling else ()),
        "mse_bound": mse_bound(problem, plan.blanket_per_user, copies) if sampling else None,
        "m_min": _each_level(least_blankets, problem),
        "epsilon_if_honest": _honesty(plan),
    }


def _honesty(plan: Plan) -> list[dict[str, Any]]:
    """Return the epsilon of every level at its delta, by the share of users who really are honest."""
    problem = plan.problem
    if problem.pairs == 0:
        return []
    return [
        {"share": share, "epsilons": [*map(_finite, epsilons(plan, max(1, math.floor(share * problem.n_users))))]}
        for share in _HONEST
    ]


def _influence(plan: Plan) -> dict[str, Any]:
    """Return the most that liars can do: one, and shares of all users."""
    one, n_users = influence(plan), plan.problem.n_users
    together = {number: one.of(number) for number in (1, *(math.ceil(share * n_users) for share in _CORRUPT))}
    return {
        "blanket_cap": plan.scheme.blanket_cap,
        "most_item_messages": _finite(one.most_messages),
        "influence": [
            {"corrupt_users": number, "item": _finite(each.item), "all_items": _finite(each.all_items)}
            for number, each in together.items()
        ],
    }


def _finite(value: float) -> float | None:
    """Return None where there is no bound: JSON has no infinity."""
    return value if math.isfinite(value) else None


def _each_level(least: Callable[[Problem], tuple[float, ...]], problem: Problem) -> list[float | None]:
    """Find the least blanket at which each level sends every item; None if no blanket will do."""
    found: list[float | None] = []
    for level, delta in zip(problem.levels, problem.deltas, strict=True):
        alone = replace(problem, levels=(level,), level_counts=(problem.n_users,), delta=delta, level_deltas=())
        try:
            found += least(alone)
        except InfeasibleError:
            found.append(None)
    return found


def _decision(found: Answer) -> str:
    """Say what is sent, what is promised, how far off estimates are, and what this relies on."""
    words, plan, problem = found.words, found.plan, found.plan.problem
    dummies = f"Every user also sends {plan.blanket_per_user:.4g} dummy messages on average, {plan.scheme.law.words}."
    levels = list(zip(problem.levels, problem.level_counts, plan.scheme.copies, problem.deltas, strict=True))
    rows = [
        (f"{level:g}", users, float(f"{copies:.4g}"), f"{factor(level)} times as likely", f"{delta:g}")
        for level, users, copies, delta in levels
    ]
    hidden = len(rows) - _LEVELS
    if hidden > 0:
        rows = [*rows[: _LEVELS // 2], *rows[-(_LEVELS // 2) :]]
    columns = ("level", "users", "messages per held item", "promise: at most", "up to probability")
    more = [f"The {hidden} levels between them are shown by --details."] if hidden > 0 else []
    errors = [each for each in words["How far off estimates are"] if not each.startswith("The 95 % interval")]
    # a sentence for every level is in the table already
    changes = words["What they are promised"][len(levels) :]
    promise = (
        "The promise: if a user held other items, nothing that the server may see would be likelier by a larger factor."
    )
    sent = _paragraphs([*more, promise, dummies, words["What users send"][-1], *changes])
    parts = [
        f"What users of each level send, and what they are promised:\n{_table(columns, rows)}\n{sent}",
        *_titled({"How far off estimates are": errors, "What this relies on": words["What this relies on"]}),
    ]
    if found.note:
        parts.append(wrapped([f"Note: {found.note}"]))
    return "\n\n".join(parts)


def _laws_table(rows: Sequence[Mapping[str, Any]], problem: Problem, top: int) -> str:
    """Every law of the dummies: how far off an item is (root of its mean squared error), and for how many messages."""
    planned = [row for row in rows if "none" not in row]
    guessed = any("top_relative_deviation" in row for row in planned)
    columns = (
        "dummies",
        "error in users",
        *([f"top {top}"] if guessed else []),
        "messages",
        "dummies per user",
        "bytes",
        "delta <=",
    )
    shown_rows = [
        (
            row["blanket"],
            f"{problem.n_users * math.sqrt(row['mse_sample'] / problem.domain_size):.3g}",
            *([f"{100 * row['top_relative_deviation']:.3g} %"] if guessed else []),
            f"{row['messages_per_user']:.4g}",
            f"{row['blanket_per_user']:.4g}",
            str(row["bytes_per_message"]),
            f"{max(level['delta_upper'] for level in row['certificate']):.3g}",
        )
        for row in planned
    ]
    said = [f"{row['blanket']}: {row.get('none') or row['note']}" for row in rows if row.get("none") or row.get("note")]
    parts = [_table(columns, shown_rows)] if planned else []
    return "\n".join([*parts, *([wrapped(said, hang="  ")] if said else [])])


def _further(found: Mapping[str, Any], n_users: int) -> list[str]:
    """Show the tables that were asked for beside the plan."""
    parts = []
    if "what_if" in found:
        rows = found["what_if"]
        columns = list(dict.fromkeys(name for row in rows for name in row if name != "none"))
        reasons = list(dict.fromkeys(row["none"] for row in rows if row["none"]))
        said = (
            "error: standard deviation of a rare item's estimate; top_error: the largest of the top items, divided by "
            "the item's share"
        )
        numbers = [[row.get(name) for name in columns] for row in rows]
        parts.append("\n".join([_table(columns, numbers), _paragraphs([said, *reasons])]))
    if "alternatives" in found:
        rows = found["alternatives"]
        planned = [
            (_fit(row["label"]), f"{row['deviation'] * n_users:.4g}", f"{row['messages_per_user']:.4g}", row["kind"])
            for row in rows
            if row["none"] is None
        ]
        without = [_fit(row["label"]) for row in rows if row["none"] is not None]
        said = "+/- users: root of the mean squared error of an item. Only the kinds exact and upper are proven."
        missing = [f"no plan (--json says why): {', '.join(without)}"] if without else []
        parts.append(
            "\n".join([_table(("protocol", "+/- users", "messages", "kind"), planned), _paragraphs([*missing, said])])
        )
    return parts


def _fit(label: str) -> str:
    return label if len(label) <= 46 else label[:45] + "…"


def _details(sentences: Mapping[str, list[str]], values: Mapping[str, Any], public: Mapping[str, str]) -> str:
    """Every sentence and every number, what the names mean, and which inputs are public."""
    width = max(map(len, public))
    inputs = [wrapped([IN_GENERAL]), *(wrapped([how], f"  {name:<{width}}  ") for name, how in public.items())]
    return "\n\n".join([*_titled(sentences), shown(dict(values), as_json=False), "\n".join(inputs)])
