"""Choose what users send, so that every level is private and the error is as small as possible.

A plan has the blanket (uniformly random dummy messages, which hide the real ones) and, for each privacy level, the
probability of sending a held item, or the number of messages about it (copies). Everybody sees the public inputs. Do
not compute them from the users' items: values that depend on the data break the guarantee.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.blankets import law_names
from segshuffle.cli.options import (
    MOST,
    add,
    counted,
    numbers,
    output,
    picture,
    question_of,
    set_sizes,
    settings,
    whole,
)
from segshuffle.cli.terminal import complain, draw
from segshuffle.errors import DataError, InfeasibleError, OptionsError

if TYPE_CHECKING:
    from segshuffle.arrays import FloatArray
    from segshuffle.planning.question import Answer, FewestMessages, LeastEpsilon, Question

#: Seconds from which on long work is announced, and from which on it is refused.
_LONG, _LONGEST = 10.0, 600.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    public = parser.add_argument_group("public inputs")
    add(public, "--items", required=True)
    public.add_argument(
        "--set-size", type=whole, required=True, metavar="S", help="items per user s, in [1, d]; see sets in --assume"
    )
    add(public, "--levels", "--delta", required=True)
    add(public, "--assume", "--hide-level")
    public.add_argument(
        "--guess",
        **settings(
            "guess of what users hold, for which errors are computed; privacy does not depend on it",
            {
                "frequencies": (
                    str,
                    "the share of the users that hold each item: d numbers with commas, a file of them, or "
                    "zipf:EXPONENT (the j-th share is roughly proportional to j^-EXPONENT); default: equal shares",
                ),
                "mean_size": (float, "with sets=at-most: items that users send on average, in (0, S] (default: S)"),
                "sizes": (
                    set_sizes,
                    "with sets=at-most: how many users hold how many items, such as 1:60%%,3:30%%,12:10%%; errors then "
                    "include what is lost because users with more than S items send only S",
                ),
                "top": (
                    whole,
                    "number of most frequent items (default 20); with top, --target-error P%%, or zipf and no target, "
                    "the plan is made for these items, not for all",
                ),
            },
            plain="frequencies",
        ),
    )
    asked = parser.add_argument_group("what is planned")
    add(
        asked,
        "--blanket",
        help=f"kind of dummy messages: one of {', '.join(law_names())} (default: poisson, single dummies, with a "
        "table that compares the kinds that are planned within seconds; clustered dummies come several at a time about "
        "one item, signed ones count +1 or -1); all: poisson, with all kinds in the table; best: with "
        "max-messages the kind with the least error (or epsilon), with --target-error the kind with the fewest "
        "messages (or least epsilon); published: the paper's dummies and privacy analysis, which is not proven and "
        "gives a larger error",
    )
    add(asked, "--limits")
    asked.add_argument(
        "--target-error",
        type=_target,
        metavar="[epsilon:]ERROR",
        help="find the plan with the fewest messages for this error, or (epsilon:ERROR) with the least epsilon and the "
        "same ratios between levels. ERROR is either P%%, the largest error (root of the expected squared error) of a "
        "top item of the guess as a percentage of the item's share, or a number, the expected squared error of all "
        "items together",
    )
    shown = parser.add_argument_group("what is printed and written")
    shown.add_argument(
        "--what-if",
        **settings(
            "also plan for other values of one or two of these, such as users=1e4,1e5 epsilon=0.5..2/4 (four "
            "values from 0.5 to 2, evenly on a logarithmic scale)",
            {
                "users": (numbers, "number of all users; the share of each level does not change"),
                "epsilon": (numbers, "the lowest level; the ratios between levels do not change"),
                "delta": (numbers, "the delta of all levels"),
                "set_size": (numbers, "items per user"),
                "domain_size": (numbers, "number of items"),
                "plot": (picture, "file for a figure of the table (.png, .pdf or .svg)"),
            },
            plain="plot",
        ),
    )
    shown.add_argument(
        "--alternatives", action="store_true", help="also plan with every protocol of the project (seconds to minutes)"
    )
    shown.add_argument(
        "--save",
        type=output,
        metavar="PLAN.json",
        help="write the plan to a file for client and estimate, if possible with blanket-cap=auto",
    )
    shown.add_argument("--details", action="store_true", help="also print every number and what it means")
    add(shown, "--json")


def run(options: argparse.Namespace) -> str:
    """Make the plan, save it, and return its text."""
    from segshuffle.cli import plan_text
    from segshuffle.datasets.layout import read_items
    from segshuffle.files import refuse_overwriting
    from segshuffle.planning.documents import Document, write_document
    from segshuffle.planning.question import PATIENCE, Answer, answer
    from segshuffle.protocols.segmented import Segmented

    varied, guess = dict(options.what_if), dict(options.guess)
    plot = varied.pop("plot", None)
    combinations = math.prod(map(len, varied.values()))
    if len(varied) > 2 or combinations > MOST:
        raise OptionsError(
            f"--what-if varies one or two numbers, in {MOST} combinations at most, not {len(varied)} numbers in "
            f"{combinations}: leave some out."
        )
    if options.save is not None and options.hide_level is not None:
        raise OptionsError(
            "--save does not go with --hide-level: no command sends or counts the messages about hidden levels, so "
            "such a plan cannot be carried out. Leave --save out to see the plan (rehearse --messages tries it), or "
            "leave --hide-level out if the server may know how many users picked each level; every client still limits "
            "what its messages reveal about its own level (client --hide-level)."
        )
    for option, path in (("save", options.save), ("what-if", plot)):
        refuse_overwriting(option, path, (str(options.items), guess.get("frequencies")))
    names = read_items(options.items) if isinstance(options.items, Path) else None
    of_paper, waits, named = (options.blanket == law for law in ("published", "all", None))
    if of_paper or waits:
        options.blanket = None
    if of_paper:  # the paper has no other sets
        options.assume = [("sets", "exactly"), *options.assume]
    question = _question(options, options.items if names is None else len(names))
    limits = question.limits
    if of_paper:
        _refuse_unpublished(options)
        found = Answer(question, Segmented(limits.blanket_per_user).plan(question.problem))
    else:
        fixed = limits.blanket_per_user is not None or limits.blanket_cap is not None
        patience = math.inf if waits else PATIENCE if named and not fixed else None
        _announce(question, patience)
        found = answer(question, patience=patience)
        if options.save is not None:
            found = _with_cap(found)
    more = _more(options, found, varied, plot)
    if options.save is not None:
        write_document(options.save, Document(found.plan, names))
        most = found.plan.scheme.most_messages
        told = f"the shuffler must refuse a sender of more than {most:.0f} messages"
        if math.isinf(most):
            told = (
                "one sender can shift the estimates without limit, because only plans with poisson dummies, one delta "
            )
            told += "and without --target-error ERROR have a cap on the messages of one sender"
        complain(f"segshuffle plan: {options.save}: {told}")
    return plan_text.told(found, options, more)


def _question(options: argparse.Namespace, domain_size: int) -> Question:
    from segshuffle.planning.question import TOP, Guess, LeastError

    guess = dict(options.guess)
    frequencies, top = _frequencies(guess.get("frequencies")), guess.get("top")
    goal, of_top = options.target_error or (LeastError(), isinstance(frequencies, float))
    if not isinstance(goal, LeastError) and top is not None and not of_top:
        raise OptionsError(
            f"--target-error {goal.error:g} is about all items together, and top about the most frequent ones: "
            "leave top out, or give the error as a percentage."
        )
    return question_of(
        options,
        domain_size=domain_size,
        set_size=options.set_size,
        levels=counted(options.levels, None),
        goal=goal,
        guess=Guess(frequencies, guess.get("mean_size"), guess.get("sizes")),
        top=TOP if top is None and of_top else top,
    )


def _with_cap(found: Answer) -> Answer:
    """Plan again with a cap on the dummies of one user, if the plan can have one and does not have it."""
    from segshuffle.planning.question import FewestMessages, answer

    asked = found.question
    named = asked.limits.blanket_cap is not None
    # with several deltas, a cap would be planned for the smallest of them
    if named or asked.laws[1:] or isinstance(asked.goal, FewestMessages) or asked.problem.level_deltas:
        return found
    capped = answer(replace(asked, limits=replace(asked.limits, blanket_cap="auto")))
    return replace(capped, rows=found.rows)


def _refuse_unpublished(options: argparse.Namespace) -> None:
    """Refuse options that the paper's analysis does not cover."""
    others = [name for name in ("target_error", "what_if", "alternatives", "save") if getattr(options, name)]
    for name in (*others, *(key for key, _ in options.limits if key != "blanket_per_user")):
        raise OptionsError(f"--blanket published does not go with {name.replace('_', '-')}: leave one of them out.")


def _more(options: argparse.Namespace, found: Answer, varied: dict[str, Any], plot: Path | None) -> dict[str, Any]:
    """Make the tables of --what-if and --alternatives, JSON-ready."""
    more: dict[str, Any] = {}
    question = found.question
    if varied:
        from segshuffle.planning import what_if

        more["what_if"] = rows = what_if.table(question, varied)
        if plot is not None:
            along, panels = what_if.curves(question, rows, list(varied))
            draw(panels, along, plot)
    if options.alternatives:
        from segshuffle.planning.what_if import side_by_side

        complain("segshuffle plan: planning with every protocol, which takes seconds to minutes")
        more["alternatives"] = side_by_side(found)
    return more


def _announce(question: Question, patience: float | None) -> None:
    """Announce long work before it starts; refuse work of more than ten minutes."""
    from segshuffle.planning.wording import many

    problem, seconds = question.problem, question.seconds(patience)
    size = f"{many(len(problem.levels), 'level')} and sets of {problem.set_size} of {problem.domain_size} items"
    told = f"{size} take about {seconds:.0f} seconds of a processor to plan"
    remedy = "fewer levels or a smaller set size take less"
    if seconds > _LONGEST:
        raise InfeasibleError(f"{told}, and more than {_LONGEST:.0f} are refused: {remedy}.")
    if seconds > _LONG:
        complain(f"segshuffle plan: {told}; {remedy}.")


def _target(text: str) -> tuple[FewestMessages | LeastEpsilon, bool]:
    """Read a goal, and whether its error is that of the top items, not the squared error of all."""
    from segshuffle.planning.question import FewestMessages, LeastEpsilon

    error = text.removeprefix("epsilon:")
    value, of_top = float(error.removesuffix("%")), error.endswith("%")
    return (FewestMessages if text == error else LeastEpsilon)(value / 100 if of_top else value), of_top


def _frequencies(text: str | None) -> float | FloatArray | None:
    """Read zipf:EXPONENT, numbers separated by commas, or a file with numbers on lines or with commas."""
    import numpy as np

    from segshuffle.files import read_bounded

    def listed(words: str) -> FloatArray:
        return np.array([float(part) for part in words.replace(",", " ").split()])

    if text is None:
        return None
    try:
        return float(text[5:]) if text.startswith("zipf:") else listed(text)
    except ValueError:
        try:
            return listed(read_bounded(Path(text), limit=2**28).decode("utf-8"))
        except ValueError as error:
            raise DataError(
                f"guess = {text[:40]!r} is neither zipf:EXPONENT, a list of numbers nor a file of them: {error!s:.500}"
            ) from error
