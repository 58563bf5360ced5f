"""Options of `plan` that do not go together, and those without effect: refused before anything is planned."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fractions import Fraction

from segshuffle.cli.blankets import Relative
from segshuffle.errors import OptionsError, ParameterError


def check(options: argparse.Namespace) -> None:
    """Refuse what has no meaning or no effect.

    Raises
    ------
    OptionsError
        With the first thing that is wrong and what to do.
    ParameterError
        If a number is outside its range.
    """
    from segshuffle.files import refuse_overwriting

    for complaint in _complaints(options):
        raise OptionsError(complaint)
    if options.top is not None and options.top < 1:
        raise ParameterError("top", options.top, "an integer >= 1")
    if options.mean_size is not None and not 0 < options.mean_size <= options.set_size:
        raise ParameterError("mean-size", options.mean_size, f"above 0 and at most --set-size {options.set_size}")
    for option, output in (("save", options.save), ("plot", options.plot)):
        refuse_overwriting(option, output, (options.items, options.item_frequencies))


def _complaints(options: argparse.Namespace) -> Iterator[str]:
    if options.accountant == "published":
        yield from _published(options)
    yield from _collection(options)
    yield from _errors(options)
    yield from _blankets(options)
    yield from _outputs(options)


def _published(options: argparse.Namespace) -> Iterator[str]:
    """What the paper's analysis does not have."""
    plain = {"copies_max": 1.0, "equal_copies": False, "what_if": None, "alternatives": False}
    given = ("max_messages", "blanket_cap", "blanket", "target_error", "zipf", "top", "mean_size", "save")
    for name, value in {**dict.fromkeys(given), **plain}.items():
        if getattr(options, name) != value:
            option = name.replace("_", "-")
            yield f"--accountant published has no --{option}: leave one of them out."


def _collection(options: argparse.Namespace) -> Iterator[str]:
    if options.users is not None and not any(isinstance(users, Fraction) for _, users in options.levels):
        yield (
            f"--users {options.users} has no effect, because --levels gives the number of users at each level: leave "
            "--users out, or give shares such as 0.5:25%."
        )
    if options.level_epsilon is not None and len(options.levels) == 1:
        yield "--level-epsilon has no effect with one level, which everybody has: leave it out."


def _errors(options: argparse.Namespace) -> Iterator[str]:
    """Errors that are asked for, and guesses of how frequent items are."""
    target = options.target_error
    relative, guessed = isinstance(target, Relative), options.zipf is not None or options.item_frequencies is not None
    if options.zipf is not None and options.item_frequencies is not None:
        yield "--zipf and --item-frequencies both say how frequent items are: give one of them."
    if options.top is not None and not guessed:
        yield "--top has no effect where nothing says how frequent items are: add --zipf or --item-frequencies."
    if options.top is not None and target is not None and not relative:
        yield (
            f"--target-error {target:g} is about all items together, and --top about the most frequent ones: leave "
            "--top out, or give the error as a percentage."
        )
    if relative and not guessed:
        yield (
            f"--target-error {100 * target.share:g}% is a percentage of the most frequent items' shares: say what "
            "these are, by --zipf or --item-frequencies."
        )
    if options.least is not None and not relative:
        yield f"--least {options.least} is about an error of the top items: add --target-error P%."
    if target is not None and options.max_messages is not None and options.least != "epsilon":
        yield (
            "--target-error finds the fewest messages, and --max-messages the least error: give one of them, or ask "
            "for --least epsilon."
        )
    yield from _sizes(options, guessed=guessed)


def _sizes(options: argparse.Namespace, *, guessed: bool) -> Iterator[str]:
    """How many items users hold, where an error depends on it."""
    needed = options.zipf is not None or (options.target_error is not None and not guessed)
    if options.mean_size is None:
        if needed and options.sets == "at-most":
            yield (
                f"--sets at-most says that users hold {options.set_size} items at most, and the error depends on how "
                "many they hold on average: add --mean-size, as believed beforehand and not read off these users' "
                "sets, or their shares by --item-frequencies."
            )
        return
    if options.sets != "at-most":
        yield f"--mean-size has no effect where all users hold {options.set_size} items: add --sets at-most."
    if options.item_frequencies is not None:
        yield "--mean-size has no effect beside --item-frequencies, which add up to the mean size: leave it out."


def _blankets(options: argparse.Namespace) -> Iterator[str]:
    """What only one law of the dummies, or a search, can do."""
    searched = options.target_error is not None
    for name in ("blanket_per_user", "blanket_cap"):
        option = "--" + name.replace("_", "-")
        if getattr(options, name) is not None and searched:
            yield f"--target-error finds the number of dummy messages, so {option} must be left out."
        if getattr(options, name) is not None and options.blanket not in (None, "poisson"):
            yield f"{option} is for single dummies: leave it out, or --blanket {options.blanket}."
    if options.blanket == "best" and options.least == "epsilon":
        yield "--least epsilon is found for one law of the dummies, and not for --blanket best: name one."
    if options.blanket == "best" and not searched and options.max_messages is None:
        yield (
            "--blanket best needs --max-messages or --target-error: without them fewer messages and less error are "
            "different blankets."
        )
    if options.blanket == "all":
        yield from _all(options)


def _all(options: argparse.Namespace) -> Iterator[str]:
    """A table of all laws is no plan."""
    for name in ("save", "what_if", "alternatives", "details"):
        if getattr(options, name):
            yield f"--blanket all compares plans and makes none: name one law, or leave --{name.replace('_', '-')} out."
    if options.least == "epsilon":
        yield "--least epsilon is found for one law of the dummies, and not for --blanket all: name one."


def _outputs(options: argparse.Namespace) -> Iterator[str]:
    from segshuffle.rehearsal.what_if import asked

    if options.items is not None and options.save is None:
        yield "--items has no effect without --save: the names are written to the plan's file."
    if options.json and options.details:
        yield "--details has no effect beside --json, which has everything: leave it out."
    if options.plot is not None and not options.what_if:
        yield "--plot draws the table of --what-if: add --what-if."
    if options.plot is not None and options.plot.suffix not in (".png", ".pdf", ".svg"):
        yield f"--plot {options.plot} must end in .png, .pdf or .svg."
    varied = asked(options.what_if) if options.what_if else {}
    if options.item_frequencies is not None and {"domain-size", "set-size"} & set(varied):
        yield "--what-if of domain-size or set-size needs other frequencies: give --zipf, not --item-frequencies."
    if options.mean_size is not None and min(varied.get("set-size", [options.mean_size])) < options.mean_size:
        yield f"--what-if has set sizes below --mean-size {options.mean_size:g}: leave these out."
