"""Choose what users send, so that every level is private and the error is as small as possible.

A plan has the blanket (uniformly random dummy messages, which hide the real ones) and, for each privacy level, the
probability of sending a held item, or the number of copies. Everybody sees the inputs marked [public]. Do not compute
them from the users' items: values that depend on the data break the guarantee.
"""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from segshuffle.blankets import law_names
from segshuffle.cli.options import PLANNING, add, question_of, users_of
from segshuffle.cli.sweep import numbers_by_key
from segshuffle.cli.terminal import complain, integer, number, picture, saying, whole
from segshuffle.errors import DataError, InfeasibleError, OptionsError
from segshuffle.protocols.public import PUBLIC_INPUTS

if TYPE_CHECKING:
    from segshuffle.arrays import FloatArray
    from segshuffle.planning.question import Answer, Question

#: Seconds of work from which on it is announced, and refused.
_LONG, _LONGEST = 10.0, 600.0
#: What --published does not have.
_ONLY_PROVEN = (
    *("max_messages", "copies_max", "equal_copies", "blanket", "blanket_cap", "target_error", "zipf", "top"),
    *("mean_size", "save", "what_if", "alternatives"),
)
#: What may be varied by --what-if.
KEYS = ("users", "epsilon", "delta", "set-size", "domain-size")


class Error(NamedTuple):
    """An error that is asked for: a sum of squares, or a percentage of the estimated share."""

    value: float
    relative: bool


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
        help="number of users, in [1, 4e15]; needed if --levels has shares such as 0.5:25%%",
    )
    add(parser, "--levels", "--delta", required=True)
    parser.add_argument(
        "--sets",
        choices=["exactly", "at-most"],
        default="exactly",
        help="whether every user holds exactly S items, or at most S (then nobody pads; default: exactly)",
    )
    add(
        parser,
        "--blanket",
        help=f"kind of dummy messages: one of {', '.join(law_names())}; best: the kind with the least error for "
        "--max-messages, or with the fewest messages for --target-error; all: single dummies (poisson), with a table "
        "of all kinds, however long they take; default: the same, without kinds that take many seconds to plan",
    )
    add(parser, *(name for name in PLANNING if name not in ("--levels", "--delta", "--blanket")))
    parser.add_argument(
        "--published",
        action="store_true",
        help="plan by the paper's privacy analysis, which is not proven and gives a larger error; budgets of "
        "messages and other kinds of dummies are then not available",
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
        help="most dummy messages of one user, 1 or more, or 'auto'; this bounds what liars can do to the estimates, "
        "if the shuffler takes from nobody more messages than an honest user may send",
    )
    _add_errors(parser.add_argument_group("how accurate the estimates will be"))
    _add_outputs(parser.add_argument_group("what is printed and written"))
    for action in parser._actions:
        if action.dest in (*PUBLIC_INPUTS, "hide_level") and action.help:
            action.help += " [public]"


def _add_errors(asked: Any) -> None:
    frequencies = asked.add_mutually_exclusive_group()
    add(frequencies, "--zipf")
    frequencies.add_argument(
        "--item-frequencies",
        metavar="LIST",
        help="share of the users that hold each item: d numbers separated by commas, or a file of them; default: all "
        "items equally frequent",
    )
    asked.add_argument(
        "--mean-size",
        type=number,
        metavar="MEAN",
        help="with --sets at-most: your guess of how many items users hold on average, in (0, S]",
    )
    add(
        asked,
        "--top",
        help="number of the guess's most frequent items (default 20); with --zipf, --top or --target-error P%% the "
        "plan is made for these items, not for all",
    )
    asked.add_argument(
        "--target-error",
        type=_error,
        metavar="ERROR",
        help="find the plan with the fewest messages for this error: either P%%, the largest standard deviation of "
        "each of the --top items as a percentage of its share, or a number, the expected squared error of all "
        "items together",
    )
    asked.add_argument(
        "--least",
        choices=["messages", "epsilon"],
        help="with --target-error: find the fewest messages at the given levels, or the least epsilon with the same "
        "ratios between levels (default: messages)",
    )


def _add_outputs(asked: Any) -> None:
    asked.add_argument(
        "--what-if",
        type=_varied,
        metavar="KEY=VALUES,...",
        help="also plan for other values of one or two of these: users, epsilon (of the lowest level), delta, "
        "set-size, domain-size; for example users=1e4,1e5,epsilon=0.5..2/4",
    )
    asked.add_argument(
        "--plot", type=picture, metavar="FILE", help="with --what-if: draw the table (.png, .pdf or .svg)"
    )
    asked.add_argument(
        "--alternatives", action="store_true", help="also plan with every protocol of the project (seconds to minutes)"
    )
    asked.add_argument(
        "--save", type=Path, metavar="PLAN.json", help="write the plan to a file for client and estimate"
    )
    add(asked, "--items", help="with --save: public list of the names of all items, one per line")
    shape = asked.add_mutually_exclusive_group()
    shape.add_argument("--details", action="store_true", help="also print every number and what it means")
    add(shape, "--json")


def run(options: argparse.Namespace) -> str:
    """Ask, answer, save, and say."""
    from segshuffle.cli import plan_text
    from segshuffle.planning.question import PATIENCE, answer, published

    _check(options)
    waits, named = options.blanket == "all", options.blanket is not None
    options.blanket = None if waits else options.blanket
    question = _question(options)
    if options.published:
        return plan_text.of_published(published(question), question, options)
    fixed = options.blanket_per_user is not None or options.blanket_cap is not None
    patience = math.inf if waits else None if named or fixed else PATIENCE
    with _told_how_long(question, patience):
        found = answer(question, patience=patience)
    more = _more(options, question, found)
    if options.save is not None:
        _save(options, found)
    return plan_text.of_proven(found, options, more)


def _question(options: argparse.Namespace) -> Question:
    from segshuffle.planning.question import TOP, FewestMessages, Guess, LeastEpsilon, LeastError

    target, top = options.target_error, options.top
    if target is None:
        goal: Any = LeastError()
        top = TOP if top is None and options.zipf is not None else top
    else:
        goal = (LeastEpsilon if options.least == "epsilon" else FewestMessages)(target.value)
        top = (TOP if top is None else top) if target.relative else None
    frequencies = options.zipf if options.item_frequencies is None else _frequencies(options.item_frequencies)
    return question_of(
        options,
        domain_size=options.domain_size,
        set_size=options.set_size,
        level_counts=users_of(options),
        goal=goal,
        guess=Guess(frequencies, options.mean_size),
        top=top,
    )


def _check(options: argparse.Namespace) -> None:
    """Refuse options without effect, and outputs that would overwrite an input."""
    from segshuffle.files import refuse_overwriting

    target, guessed = options.target_error, options.zipf is not None or options.item_frequencies is not None
    for name in _ONLY_PROVEN:
        if options.published and getattr(options, name) not in (None, False):
            option = name.replace("_", "-")
            raise OptionsError(f"--published has no --{option}: leave one of them out.")
    if target is not None and target.relative and not guessed:
        raise OptionsError(
            f"--target-error {100 * target.value:g}% is a percentage of the most frequent items' shares: say what "
            "these are, by --zipf or --item-frequencies."
        )
    if target is not None and not target.relative and options.top is not None:
        raise OptionsError(
            f"--target-error {target.value:g} is about all items together, and --top about the most frequent ones: "
            "leave --top out, or give the error as a percentage."
        )
    if options.least is not None and target is None:
        raise OptionsError(f"--least {options.least} is about an error: add --target-error.")
    if options.items is not None and options.save is None:
        raise OptionsError("--items has no effect without --save: the names are written to the plan's file.")
    if options.plot is not None and not options.what_if:
        raise OptionsError("--plot draws the table of --what-if: add --what-if.")
    for option, output in (("save", options.save), ("plot", options.plot)):
        refuse_overwriting(option, output, (options.items, options.item_frequencies))


def _more(options: argparse.Namespace, question: Question, found: Answer) -> dict[str, Any]:
    """Make the tables that were asked for beside the plan, JSON-ready."""
    more: dict[str, Any] = {}
    if options.what_if:
        from segshuffle.planning import what_if

        more["what_if"] = rows = what_if.table(question, options.what_if)
        if options.plot is not None:
            what_if.draw(question, rows, list(options.what_if), options.plot)
    if options.alternatives:
        from segshuffle.planning.alternatives import side_by_side

        complain("segshuffle plan: planning with every protocol, which takes seconds to minutes")
        more["alternatives"] = side_by_side(
            found.plan.problem,
            question.guess.counts(found.plan.problem),
            copies_max=question.limits.copies_max,
            max_messages=question.limits.max_messages,
        )
    return more


def _save(options: argparse.Namespace, found: Answer) -> None:
    """Write the plan, with the items' names."""
    from segshuffle.files import read_bounded
    from segshuffle.planning.documents import Document, checked_names, write_document

    names = None
    if options.items is not None:
        try:
            lines = read_bounded(options.items, limit=2**28).decode("utf-8").splitlines()
            names = checked_names([line.strip() for line in lines if line.strip()], found.plan.problem.domain_size)
        except (UnicodeDecodeError, DataError) as error:
            raise DataError(f"{options.items}: {error}") from error
    write_document(options.save, Document(found.plan, names))


@contextlib.contextmanager
def _told_how_long(question: Question, patience: float | None) -> Iterator[None]:
    """Write a line before minutes of work, and one now and then while it lasts; refuse hours of it."""
    problem, seconds = question.problem, question.seconds(patience)
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


def _cap(text: str) -> int | str:
    try:
        return text if text == "auto" else whole(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither an integer nor auto") from None


def _error(text: str) -> Error:
    """Read an error: a number, or a percentage."""
    if not text.endswith("%"):
        return Error(number(text), relative=False)
    share = number(text[:-1]) / 100
    if not 0.0 < share < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage above 0, such as 10%")
    return Error(share, relative=True)


def _varied(text: str) -> dict[str, tuple[float, ...]]:
    return numbers_by_key(text, KEYS)


def _frequencies(text: str) -> FloatArray:
    """Item frequencies from a comma-separated list or a file with one per line or comma."""
    import numpy as np

    def numbers(words: str) -> FloatArray:
        return np.array([float(part) for part in words.replace(",", " ").split()])

    try:
        return numbers(text)
    except ValueError:
        try:
            return numbers(Path(text).read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            told = text if len(text) <= 40 else text[:37] + "..."
            reason = error.strerror if isinstance(error, OSError) else error
            raise DataError(
                f"item-frequencies = {told!r} is neither a list of numbers nor a file: {reason}."
            ) from error
