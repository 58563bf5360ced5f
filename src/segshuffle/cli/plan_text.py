"""The text of a plan: the decision and the alternatives on one screen, and everything else on request."""

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from segshuffle.cli.terminal import as_json, finite, shown, table, typed, wrapped
from segshuffle.collection.messages.received import epsilons
from segshuffle.collection.planning.answer import Answer
from segshuffle.collection.planning.asked import TOP
from segshuffle.collection.planning.nearness import nearness
from segshuffle.collection.planning.question import Question
from segshuffle.collection.planning.wording import BETWEEN, factor, many, seen
from segshuffle.plans.plan import Plan, Problem
from segshuffle.plans.public import IN_GENERAL, PUBLIC_INPUTS
from segshuffle.plans.targets import has_large_tables
from segshuffle.protocols.segmented import Segmented

_REST = "More: --details, --json; --dummies all compares other kinds of dummies."
#: Beginnings of the sentences about errors that only --details shows.
_FURTHER = ("The 95 % interval", "The largest of these errors")
#: Shares of honest users for which epsilons are shown.
_HONEST = (1.0, 0.95, 0.9, 0.8, 0.5)
#: Shares of lying users for which the influence is shown, in addition to one liar.
_CORRUPT = (0.01, 0.1)
#: Up to so many levels are all shown; of more, only the two lowest and the two highest.
_LEVELS = 5


def _paragraphs(sentences: Sequence[str]) -> str:
    """Indent sentences, with more indentation for further lines."""
    return wrapped(sentences, "  ", "  ")


def _titled(topics: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{title}:\n{_paragraphs(sentences)}" for title, sentences in topics.items()]


def told(answer: Answer, options: Namespace, more: Mapping[str, Any]) -> str:
    """Return the answer as JSON, or as one screen of text, or everything with --details.

    A plan of the paper's analysis is shown as numbers, because sentences would promise what is not proven.
    """
    asked = replace(answer.question, problem=answer.plan.problem)
    warnings = [typed(each, options) for each in answer.warnings]
    rows = [{**row, "none": typed(row["none"], options)} if "none" in row else row for row in answer.rows]
    values, proven = _numbers(answer, asked), answer.plan.kind != "published"
    # sentences would promise what is not proven
    sentences = answer.sentences if proven else {}
    topics = {title: [typed(each, options) for each in said] for title, said in sentences.items()}
    if proven:
        values |= answer.numbers
        if options.json or options.details:
            values |= _relied_on(answer.plan)
        if options.details:
            values |= nearness(answer)
    if options.json:
        said: dict[str, Any] = {"by_dummies": rows, "warnings": warnings, "public": PUBLIC_INPUTS}
        if proven:
            guarantees = [each.as_dict() for each in answer.guarantees]
            said |= {"asked": answer.question.as_dict(), "note": answer.note, "words": topics, "guarantees": guarantees}
        return as_json({**values, **said, **more})
    parts = [_decision(answer, topics)] if proven else [_details({}, values)]
    parts += [wrapped([f"Warning: {each}"], hang="  ") for each in warnings]
    if rows:
        parts.append(_laws_table(rows, asked.problem, min(asked.goal.top or TOP, asked.problem.domain_size)))
    parts += _further(more, asked.problem.n_users, options)
    parts.append(_details(topics, values) if options.details and proven else _REST)
    return "\n\n".join(parts)


def _numbers(answer: Answer, asked: Question) -> dict[str, Any]:
    """Return the numbers of a plan, and what it was made for."""
    plan, problem = answer.plan, answer.plan.problem
    return {
        "dummies": plan.scheme.law.name,
        "blanket_per_user": plan.blanket_per_user,
        "copies": plan.scheme.copies,
        "messages_per_user": plan.messages_per_user,
        "level_messages_per_user": asked.level_messages,
        "mse_sample": answer.squared_error,
        "mse_bound": finite(plan.mse_bound),
        **_influence(plan),
        "kind": plan.kind,
        "domain_size": problem.domain_size,
        "set_size": problem.set_size,
        "levels": problem.levels,
        "level_counts": problem.level_counts,
        "delta": problem.delta,
        "level_deltas": problem.level_deltas,
        "mean_size": asked.guess.mean_size,
        "share_expected": problem.assumptions.honest_fraction,
    }


def _relied_on(plan: Plan) -> dict[str, Any]:
    """Return the assumptions of the guarantee, and every level's epsilon by the share of really honest users."""
    problem = plan.problem
    said = {
        "sets": problem.assumptions.sets,
        "rounds": problem.assumptions.rounds,
        "honest_users": problem.honest_users,
    }
    if has_large_tables(plan.scheme.law) or problem.pairs == 0:  # it would take long, or all sets are alike
        return said
    honest = {share: max(1, math.floor(share * problem.n_users)) for share in _HONEST}
    rows = [{"share": share, "epsilons": [*map(finite, epsilons(plan, n))]} for share, n in honest.items()]
    return {**said, "epsilon_if_honest": rows}


def _influence(plan: Plan) -> dict[str, Any]:
    """Return the influence of one liar, and of shares of all users."""
    one, n_users = Segmented().influence(plan), plan.problem.n_users
    together = {number: one.of(number) for number in (1, *(math.ceil(share * n_users) for share in _CORRUPT))}
    return {
        "blanket_cap": plan.scheme.blanket_cap,
        "most_item_messages": finite(one.most_messages),
        "influence": [
            {"corrupt_users": number, "item": finite(each.item), "all_items": finite(each.all_items)}
            for number, each in together.items()
        ],
    }


def _decision(answer: Answer, topics: Mapping[str, list[str]]) -> str:
    """Say what users send, what they are promised, how far off estimates are, and what this relies on."""
    plan, problem = answer.plan, answer.plan.problem
    messages = many(plan.blanket_per_user, "dummy message")
    dummies = f"Every user also sends {messages} on average, {plan.scheme.law.phrase}."
    rows = [
        {
            "level": f"{level:g}",
            "users": users,
            "messages per held item": f"{copies:.4g}",
            "promise: at most": f"{factor(level)} times as likely",
            "up to probability": f"{delta:g}",
        }
        for level, users, copies, delta in zip(
            problem.levels, problem.level_counts, plan.scheme.copies, problem.deltas, strict=True
        )
    ]
    more = []
    if len(rows) > _LEVELS:
        more = [f"The {len(rows) - 4} levels in the middle are shown by --details."]
        rows = [*rows[:2], *rows[-2:]]
    errors = [each for each in topics["How far off estimates are"] if not each.startswith(_FURTHER)]
    # the table takes the place of the sentences about single levels
    changes = [each for each in topics["What they are promised"][len(problem.levels) :] if not each.startswith(BETWEEN)]
    promise = (
        f"If a user held other items, {seen(plan)} would be at most this many times as likely, up to this probability."
    )
    sent = _paragraphs([*more, promise, dummies, topics["What users send"][-1], *changes])
    parts = [
        f"What users of each level send, and what they are promised:\n{table(rows)}\n{sent}",
        *_titled({"How far off estimates are": errors, "What this relies on": topics["What this relies on"]}),
    ]
    if answer.note:
        parts.append(wrapped([f"Note: {answer.note}"]))
    return "\n\n".join(parts)


def _laws_table(rows: Sequence[Mapping[str, Any]], problem: Problem, top: int) -> str:
    """Make the table of all laws: the error of an item (root mean square), and the number of messages."""
    planned = [row for row in rows if "none" not in row]
    shown_rows = [
        {
            "dummies": row["dummies"],
            "error in users": f"{problem.n_users * math.sqrt(row['mse_sample'] / problem.domain_size):.3g}",
            f"top {top}": f"{100 * row['top_error']:.3g} %" if "top_share" in row else None,
            "messages": f"{row['messages_per_user']:.4g}",
            "dummies per user": f"{row['blanket_per_user']:.4g}",
            "bytes": str(row["bytes_per_message"]),
            "delta <=": f"{max(level['delta_upper'] for level in row['certificate']):.3g}",
        }
        for row in planned
    ]
    said = [f"{row['dummies']}: {row['none']}" for row in rows if "none" in row]
    if planned:
        said.append("error in users: root of the mean squared error of an item, over all items")
    return "\n".join(filter(None, (table(shown_rows), wrapped(said, hang="  "))))


def _further(further: Mapping[str, Any], n_users: int, options: Namespace) -> list[str]:
    """Show the tables of --what-if and --alternatives."""
    parts = []
    if "what_if" in further:
        rows = further["what_if"]
        reasons = list(dict.fromkeys(typed(row["none"], options) for row in rows if row["none"]))
        said = "error: standard deviation of a rare item's estimate"
        if any("top_error_%" in row for row in rows):
            said += "; top_error: the largest error of a top item, divided by the item's share"
        numbers = [{name: value for name, value in row.items() if name != "none"} for row in rows]
        parts.append(f"{table(numbers)}\n{_paragraphs([said, *reasons])}")
    if "alternatives" in further:
        rows = further["alternatives"]
        planned = [
            {
                "protocol": row["label"],
                "+/- users": None if row["deviation"] is None else row["deviation"] * n_users,
                "messages": row["messages_per_user"],
                "kind": row["kind"],
            }
            for row in rows
        ]
        sentences = [
            "+/- users: root of the mean squared error of an item. Only the kinds exact and upper are proven. A "
            "protocol without numbers has no plan; --json says why."
        ]
        if useless := [row["label"] for row in rows if row["useless"]]:
            sentences.append(f"Not better than an answer that uses no data: {', '.join(useless)}.")
        parts.append(f"{table(planned)}\n{_paragraphs(sentences)}")
    return parts


def _details(sentences: Mapping[str, list[str]], values: Mapping[str, Any]) -> str:
    """Show every sentence and every number, with the meaning of the names, and the public inputs."""
    width = max(map(len, PUBLIC_INPUTS))
    inputs = [wrapped([how], f"  {name:<{width}}  ") for name, how in PUBLIC_INPUTS.items()]
    return "\n\n".join([*_titled(sentences), shown(values), "\n".join([wrapped([IN_GENERAL]), *inputs])])
