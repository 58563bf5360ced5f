"""Choose what users send, so that every level is private and the error is as small as possible.

A plan has the blanket (uniformly random dummy messages, which hide the real ones) and, for each privacy level, the
probability of sending a held item, or the number of messages about it (copies). Everybody sees the public inputs. Do
not compute them from the users' items: values that depend on the data break the guarantee.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.collection import SAVED, Collection
from segshuffle.cli.options import (
    MOST,
    add_flags,
    counted,
    integers,
    numbers,
    output,
    picture,
    question_of,
)
from segshuffle.cli.terminal import NO_OPTIONS, complain, draw, flag, need
from segshuffle.datasets.own.layout import tidied
from segshuffle.digits import rounded_up
from segshuffle.errors import DataError, InfeasibleError, OptionsError, ParameterError, similar

if TYPE_CHECKING:
    from segshuffle.arrays import FloatArray
    from segshuffle.collection.planning.answer import Answer
    from segshuffle.collection.planning.question import Question
    from segshuffle.plans.plan import Plan

#: Options in the short help.
COMMON = ("collection", "items", "set_size", "levels", "delta", "sets", "guess", "target_error", "max_messages", "save")
#: Seconds from which on long work is announced, and from which on it is refused.
_LONG, _LONGEST = 10.0, 600.0


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from segshuffle.collection.planning.asked import Goal, Guess, Limits
    from segshuffle.collection.planning.question import Question
    from segshuffle.collection.planning.what_if import VARIED
    from segshuffle.option_fields import options_of
    from segshuffle.plans.plan import Assumptions, Problem

    public = parser.add_argument_group("public inputs")
    public.add_argument(
        "collection",
        nargs="?",
        action=Collection,
        fields=options_of(Problem, Assumptions, Goal, Limits, Guess, Question),
        metavar="COLLECTION.toml",
        help="file with any of the options of the first six groups, such as set_size = 8 (text in quotes); options "
        "of the command override it. Or a saved plan (.json): it is verified, and only --record may go with it",
    )
    add_flags(public, options_of(Problem))
    groups = {"what the guarantee assumes": Assumptions, "limits": Limits, "guess": Guess, "goal": Goal}
    for title, options in groups.items():
        group = parser.add_argument_group(title)
        add_flags(group, options_of(options))
    dummies = parser.add_argument_group("dummies and levels")
    law = options_of(Question)["dummies"].metadata["description"]
    add_flags(
        dummies,
        options_of(Question),
        dummies={
            "help": f"{law}; without this option poisson; all: poisson, with a table that compares all kinds; "
            "published: the paper's dummies and privacy analysis, which is not proven and gives a larger error"
        },
    )
    shown = parser.add_argument_group("what is printed and written")
    shown.add_argument(
        "--what-if",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUES"),
        help="also plan for other values of one number, or (given twice) of two: --what-if users 1e4,1e5 --what-if "
        "epsilon 0.5..2/4 (four values from 0.5 to 2, evenly on a logarithmic scale). Names: "
        f"{', '.join(VARIED).replace('_', '-')}; users: of all levels, in the same shares; epsilon: of the lowest "
        "level, with the same ratios",
    )
    shown.add_argument(
        "--plot", type=picture, metavar="FILE", help="file for a figure of --what-if (.png, .pdf or .svg)"
    )
    shown.add_argument(
        "--alternatives", action="store_true", help="also plan with every protocol of the project (seconds to minutes)"
    )
    shown.add_argument(
        "--save",
        type=output,
        metavar="PLAN.json",
        help="write the plan to a file for client and estimate; if possible with the least blanket-cap",
    )
    shown.add_argument(
        "--record",
        type=output,
        metavar="RECORD.yaml",
        help="write a draft of a record for OpenDP's registry of deployments; what only you know says TODO",
    )
    shown.add_argument("--details", action="store_true", help="also print every number and what it means")
    shown.add_argument(
        "--json",
        action="store_true",
        help="print JSON, with everything (how near the plan is to the best one, which takes a second, with --details)",
    )


def run(options: Namespace) -> str:
    """Make the plan, save it, and return its text."""
    from segshuffle.cli import plan_text
    from segshuffle.collection.planning.answer import Answer, answer
    from segshuffle.datasets.own.layout import read_items
    from segshuffle.files import refuse_overwriting
    from segshuffle.protocols.segmented import Segmented

    if options.collection is not None and options.collection.suffix == SAVED:
        return _verified(options)
    need(options, "items", "set_size", "levels", "delta")
    varied = _varied(options)
    _refuse_hidden(options)
    outputs = (("save", options.save), ("plot", options.plot), ("record", options.record))
    refuse_overwriting(outputs, (str(options.items), options.guess, options.collection))
    names = read_items(options.items) if isinstance(options.items, Path) else None
    dummies = options.dummies
    if dummies in ("published", "all"):
        options.dummies = None
    if dummies == "published":  # the paper has no other sets
        options.sets = options.sets or "exactly"
    domain_size = options.items if names is None else len(names)
    if options.guess is not None:
        options.guess = _frequencies(options.guess, names, domain_size)
    question = question_of(
        options,
        domain_size=domain_size,
        set_size=options.set_size,
        levels=counted(options.levels, None),
    )
    limits = question.limits
    if dummies == "published":
        _refuse_unpublished(options, question)
        answered = Answer(question, Segmented(limits.blanket_per_user).plan(question.problem))
    else:
        compare = dummies == "all"
        _announce(question, compare)
        answered = answer(question, compare=compare)
        if options.save is not None:
            answered = _with_cap(answered)
    more = _more(options, answered, varied)
    _write(answered, options, names)
    return plan_text.told(answered, options, more)


def _verified(options: Namespace) -> str:
    """Verify a saved plan, write its record, and return the delta of every level as text."""
    from segshuffle.collection.planning.documents import read_plan
    from segshuffle.files import refuse_overwriting

    for name, value in vars(options).items():
        is_given = value is not None and value != [] and (value is not False or name == "equal_copies")
        if is_given and name not in (*NO_OPTIONS, "record"):
            raise OptionsError(
                f"{flag(name)} does not go with {options.collection}: a saved plan is verified as it is. Leave "
                f"{flag(name)} out, or give the file of a question (.toml) to make another plan."
            )
    refuse_overwriting((("record", options.record),), (str(options.collection),))
    plan = read_plan(options.collection).plan
    _write_record(plan, options.record)
    told = [f"{options.collection} keeps its promises."]
    for row in plan.certificate:
        told.append(f"At epsilon {row['epsilon']:g}, delta is at most {rounded_up(row['delta_upper'], 6):g}.")
    return "\n".join(told)


def _refuse_hidden(options: Namespace) -> None:
    """Refuse to write a plan with hidden levels."""
    for name in ("save", "record"):
        if vars(options)[name] is not None and options.hide_level is not None:
            raise OptionsError(
                f"--{name} does not go with --hide-level: no command sends or counts the messages about hidden levels, "
                f"so such a plan cannot be carried out. Leave --{name} out to see the plan (rehearse --messages tries "
                "it), or leave --hide-level out if the server may know how many users picked each level; every client "
                "still limits what its messages reveal about its own level (client --level-budget)."
            )


def _write(answered: Answer, options: Namespace, names: list[str] | None) -> None:
    """Write the files of --save and --record, and say what is left to do."""
    from segshuffle.collection.planning.documents import save_plan

    if options.save is not None:
        save_plan(answered.plan, options.save, names, answered.question.as_dict())
        most = answered.plan.scheme.most_messages
        told = f"the shuffler must refuse a sender of more than {most:.0f} messages"
        if math.isinf(most):
            told = (
                "one sender can shift the estimates without limit, because only plans with poisson dummies have a cap "
                "on the messages of one sender"
            )
        complain(f"segshuffle plan: {options.save}: {told}")
    _write_record(answered.plan, options.record)


def _write_record(plan: Plan, path: Path | None) -> None:
    """Write the file of --record, if it is given, and say what is left to do."""
    if path is not None:
        from segshuffle.collection.record import save_record

        save_record(plan, path)
        complain(f"segshuffle plan: {path}: write what says TODO, and the date of publication")


def _varied(options: Namespace) -> dict[str, tuple[float, ...]]:
    """Read the names and values of --what-if."""
    from segshuffle.collection.planning.what_if import INTEGERS, VARIED

    values, known = {}, [name.replace("_", "-") for name in VARIED]
    for typed_name, text in options.what_if:
        name = typed_name.replace("-", "_")
        if name not in VARIED:
            told = f"--what-if {typed_name} is unknown{similar(typed_name, known)}"
            raise OptionsError(f"{told}. Known are {', '.join(known)}.")
        try:
            values[name] = integers(text) if name in INTEGERS else numbers(text)
        except (ValueError, OverflowError) as error:
            allowed = "numbers: 1,2,3, or 1..10/4 for four values from 1 to 10, evenly on a logarithmic scale"
            raise ParameterError(f"what-if {typed_name}", text, allowed) from error
    if options.plot is not None and not values:
        raise OptionsError("--plot draws the table of --what-if: give both.")
    combinations = math.prod(map(len, values.values()))
    if len(values) > 2 or combinations > MOST:
        raise OptionsError(
            f"--what-if varies one or two numbers, in {MOST} combinations at most, not {len(values)} numbers in "
            f"{combinations}: leave some out."
        )
    return values


def _with_cap(answered: Answer) -> Answer:
    """Plan again with a cap on the dummies of one user, if the plan can have one and does not have it."""
    from segshuffle.collection.planning.answer import answer

    asked = answered.question
    if asked.limits.blanket_cap is not None or asked.laws[1:]:
        return answered
    capped = answer(replace(asked, limits=replace(asked.limits, blanket_cap="auto")))
    return replace(capped, rows=answered.rows)


def _refuse_unpublished(options: Namespace, question: Question) -> None:
    """Refuse options that the paper's analysis does not cover."""
    others = [name for name in ("target_error", "what_if", "alternatives", "save", "record") if getattr(options, name)]
    for name in (*others, *(name for name in question.as_dict() if name in vars(question.limits))):
        if name != "blanket_per_user":
            raise OptionsError(f"dummies = published does not go with {name}: leave one of them out.")


def _more(options: Namespace, answered: Answer, varied: dict[str, tuple[float, ...]]) -> dict[str, Any]:
    """Make the tables of --what-if and --alternatives, JSON-ready."""
    more: dict[str, Any] = {}
    question = answered.question
    if varied:
        from segshuffle.collection.planning import what_if

        more["what_if"] = rows = what_if.table(question, varied)
        if options.plot is not None:
            along, panels = what_if.curves(question, rows, list(varied))
            draw(panels, along, options.plot)
    if options.alternatives:
        from segshuffle.collection.planning.what_if import side_by_side

        complain("segshuffle plan: planning with every protocol, which takes seconds to minutes")
        more["alternatives"] = side_by_side(answered)
    return more


def _announce(question: Question, compare: bool) -> None:
    """Announce long work before it starts; refuse work of more than ten minutes."""
    from segshuffle.collection.planning.wording import many

    problem, seconds = question.problem, question.seconds(compare)
    size = f"{many(len(problem.levels), 'level')} and sets of {problem.set_size} of {problem.domain_size} items"
    told = f"{size} take about {seconds:.0f} seconds of a processor to plan"
    remedy = "fewer levels or a smaller set size take less"
    if seconds > _LONGEST:
        raise InfeasibleError(f"{told}, and more than {_LONGEST:.0f} are refused: {remedy}.")
    if seconds > _LONG:
        complain(f"segshuffle plan: {told}; {remedy}.")


def _frequencies(text: str, names: list[str] | None, domain_size: int) -> float | FloatArray:
    """Read zipf:EXPONENT, numbers separated by commas, a file with numbers, or a table of shares by item."""
    import numpy as np

    from segshuffle.files import read_text

    def listed(text: str) -> FloatArray:
        return np.array([float(part) for part in text.replace(",", " ").split()])

    with contextlib.suppress(ValueError):
        return float(text[5:]) if text.startswith("zipf:") else listed(text)
    try:
        content = read_text(Path(text), limit=2**28)
        # only the first lines say how a table was made: a later one may be about an item called #1
        lines = [*itertools.dropwhile(lambda line: line.startswith("#"), content.splitlines())]
        is_table = bool(lines) and "item" in lines[0].split(",")
        return _of_table(lines, names, domain_size) if is_table else listed(content)
    except ValueError as error:
        raise DataError(
            f"guess = {text[:40]!r} is neither zipf:EXPONENT, a list of numbers, a file of them, nor a table with the "
            f"columns item and share (or estimate, or true): {error!s:.500}"
        ) from error


def _of_table(lines: list[str], names: list[str] | None, domain_size: int) -> FloatArray:
    """Read the shares of all items from a table, such as that of an earlier collection; items without a row have 0."""
    import csv

    import numpy as np

    rows = list(csv.DictReader(lines))
    column = next((name for name in ("share", "true", "estimate") if rows and name in rows[0]), None)
    if column is None:
        raise ValueError("no column share, true or estimate")
    # estimates may be below 0 or above 1
    shares = {tidied(row["item"]): min(max(float(row[column] or "nan"), 0.0), 1.0) for row in rows}
    ordered = [*map(str, range(domain_size))] if names is None else names
    if unknown := sorted(set(shares) - set(ordered)):
        raise ValueError(f"{unknown[0]!r} is not in the list of items")
    return np.array([shares.get(name, 0.0) for name in ordered])
