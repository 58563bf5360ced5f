"""Code that all commands share: the parser, refusals of options, and the output of answers and errors."""

import argparse
import contextlib
import copy
import csv
import itertools
import json
import math
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from segshuffle.drawing.looks import series_looks, stroke
from segshuffle.errors import OptionsError, SegshuffleError
from segshuffle.files import writing

#: Width of an answer, in characters.
WIDTH = 80
#: Name in an answer -> its meaning.
MEANINGS = {
    "assumed": "what was assumed, because no option says otherwise",
    "blanket_cap": "most dummy messages of one user; none: no limit",
    "blanket_per_user": "dummy messages that a user sends on average, spread evenly over all items",
    "bytes_per_message": "size of a message about an item, in bytes",
    "certificate": "by level, an interval that contains the exact delta of the plan at the level's epsilon",
    "copies": "messages that a user of each level sends about a held item, on average",
    "coverage_of_items_held_by_nobody": "share of all collections in which the interval of an item that nobody holds "
    "contains 0",
    "delta": "probability with which the guarantee of epsilon may fail",
    "deviation": "standard deviation of the estimate of a rare item, as a share of the users",
    "deviation_users": "deviation as a number of users",
    "dropped": "lines that are no messages, or name another collection, and were left out",
    "epsilon_if_honest": "the epsilons that hold if only this share of the users send dummies and keep them secret",
    "guarantee": "epsilon of each level for those who took part, if honest_users are honest; none: not certified",
    "honest_users": "users whose dummy messages the guarantee relies on",
    "influence": "how far corrupt_users who lie can shift the estimate of one item (item), and those of all items "
    "(all_items), as shares; none: no limit",
    "item_delta": "delta for a change of one item, by the paper's Theorem 3, whose proof has a gap: an interval that "
    "contains the theorem's number",
    "kind": "exact: proven, and no smaller number holds; upper: proven; published: stated in a paper, not proven",
    "level_counts": "users at each level",
    "law": "the kind of the dummy messages, with its parameters",
    "level_deltas": "by level, the probability with which its guarantee may fail; delta is the smallest",
    "level_messages_per_user": "those of the messages_per_user that are about a hidden level",
    "messages_possible": "range that contains the number of messages, except in at most one of 10^6 collections",
    "messages_per_user": "all messages that a user sends in a collection, on average: about items, about a hidden "
    "level, and dummies",
    "most_item_messages": "most messages about items that the shuffler takes from one user; none: no limit",
    "mse_bound": "bound on the expected squared error, summed over the items, whatever the users hold",
    "mse_sample": "expected squared error, summed over the items, at the item frequencies given (or uniform ones)",
    "not_noticed": "damage that this call could not notice, and the option that would help",
    "plan": "first digits of the digest in the file of the plan",
    "proposition_1": "proven lower bound on the delta for a change of one item (the paper's Proposition 1)",
    "share_expected": "share of the users who have to take part honestly; for fewer, see the command estimate",
    "share_of_curator_error": "mse_bound of a trusted curator with the best independent noise that is known, divided "
    "by that of this plan",
    "share_of_least_error": "no plan with single dummies has less than this share of this plan's error (proven; 0: "
    "only less than a tenth is proven)",
    "smallest_share_told_from_zero": "share of the users who must hold an item so that it is told from zero with "
    "probability 0.95",
    "told_from_zero": "number of items whose estimates are above told_from_zero_above",
    "told_from_zero_above": "an item with a larger estimate is told from zero (recognised as held); with probability "
    "0.95 every such item is held by somebody",
    "top_error": "largest error of a top item: root of its expected squared error, divided by its share",
    "top_error_from_cutting": "the part of top_error that comes from cutting larger sets alone",
    "top_share": "share of the users who hold the top item with the largest relative error",
}


#: What the parser stores that is no option with a value.
NO_OPTIONS = ("command", "run", "refuse", "plan", "data", "received", "collection", "lines")
#: Options whose names are words of other sentences, too.
_NUMBERS = ("epsilon", "delta", "level", "levels", "users")
#: Name in the library -> the option that gives its value.
_ALIASES = {
    "domain_size": "items",
    "level_counts": "levels",
    "level_deltas": "delta",
    "n_users": "users",
    "level_epsilon": "hide_level",
    "level_delta": "hide_level",
    "frequencies": "guess",
}


class _Paragraphs(argparse.HelpFormatter):
    """Help texts as wide as the terminal, with paragraphs."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(super(_Paragraphs, self)._fill_text(part, width, indent) for part in text.split("\n\n"))

    def _split_lines(self, text: str, width: int) -> list[str]:
        about, *entries = text.split("\n")
        hung = (textwrap.wrap(each, width, subsequent_indent="  ") for each in entries)
        return [*super()._split_lines(about, width), *itertools.chain(*hung)]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and which has a short help (-h) beside the whole one (--help)."""

    #: Names of the options in the short help, and whether there is one.
    common: tuple[str, ...] = ()
    #: Where the options stand that are being read, if in a file.
    place = ""

    def __init__(self, **given: Any) -> None:
        #: The parsers of all commands, by name.
        self.commands: dict[str, Parser] = {}
        super().__init__(formatter_class=_Paragraphs, add_help=False, allow_abbrev=False, **given)
        self.add_argument(
            "-h", action=_Help, nargs=0, help="show the most used options (all, if they are few) and exit"
        )
        self.add_argument("--help", action=_Help, nargs=0, help="show all options and exit")

    @property
    def flags(self) -> list[str]:
        """All options, as they are typed."""
        return list(self._option_string_actions)

    def short_help(self) -> str:
        """Return the help with the most used options only."""
        summary, _, _ = (self.description or "").partition("\n\n")
        formatter = self._get_formatter()
        formatter.add_text(summary)
        formatter.start_section("most used options")
        for action in self._actions:
            if action.dest in self.common:
                shorter = copy.copy(action)
                shorter.help = re.split(r"[;.] ", str(action.help))[0]
                formatter.add_argument(shorter)
        formatter.end_section()
        formatter.add_text(f"All options: {self.prog} --help")
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """Print an error about the arguments, and exit."""
        complain(f"{self.prog}: {self.place}{message} (see {self.prog} --help)")
        raise SystemExit(2)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        # the help of an option says what is allowed
        try:
            return (action.type or str)(arg_string)  # type: ignore[operator]
        except (SegshuffleError, argparse.ArgumentTypeError) as error:
            raise argparse.ArgumentError(action, str(error)) from None
        except (ValueError, OverflowError):
            allowed = str(action.help).replace("%%", "%")
            told = f"{arg_string[:60]!r} is not allowed; expected is: {allowed}"
            raise argparse.ArgumentError(action, told) from None

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # argparse would take the value away, and give the command an empty list
        if action.option_strings and "--" in arg_strings:
            raise argparse.ArgumentError(action, "'--' is not allowed as a value")
        return super()._get_values(action, arg_strings)


class _Help(argparse.Action):
    """Print the help; a full disk or a closed output gives a short error."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> NoReturn:
        text = parser.short_help() if option_string == "-h" and parser.common else parser.format_help()
        raise SystemExit(write(parser.prog, text.rstrip("\n")))


def flag(name: str) -> str:
    """Return the name of an option as it is typed."""
    return f"--{name.replace('_', '-')}"


def typed(text: str, options: argparse.Namespace) -> str:
    """Write names of options in a text as they are typed: ``max_messages = 4`` becomes ``--max-messages 4``."""
    names = {name: name for name in vars(options) if name not in NO_OPTIONS}
    names |= {name: known for name, known in _ALIASES.items() if known in names}
    for name, known in names.items():
        spelled = flag(known)
        # what a sentence says of an epsilon or a delta need not be about the option
        begin = "^" if name in _NUMBERS else r"(?<![\w-])"
        text = re.sub(rf"{begin}{name} = no(?!\w)", f"--no-{known}", text)
        text = re.sub(rf"{begin}{name} = (?=\S)", f"{spelled} ", text)
        if "_" in name:
            text = re.sub(rf"(?<![\w-]){name}(?!\w)", spelled, text)
    return text


def told(error: Exception, options: argparse.Namespace) -> str:
    """Return the text of an error, with the place of a value that stands in a file of options."""
    text, name = typed(str(error), options), getattr(error, "name", "")
    option = _ALIASES.get(name, name)
    line, value = getattr(options, "lines", {}).get(option, (0, None))
    # an option of the command may have replaced the value of the file
    return f"{options.collection}, line {line}: {text}" if line and getattr(options, option) is value else text


def need(options: argparse.Namespace, *names: str) -> None:
    """Exit as argparse does if options are missing."""
    missing = [flag(name) for name in names if getattr(options, name) is None]
    if missing:
        options.refuse(f"the following arguments are required: {', '.join(missing)}")


def leave_out(options: argparse.Namespace, names: Iterable[str], rule: str) -> None:
    """Refuse options that have no effect with the others.

    Raises
    ------
    OptionsError
        Names the first such option and the rule.
    """
    for name in names:
        if getattr(options, name) not in (None, []):
            raise OptionsError(f"{flag(name)} must be left out {rule}.")


def as_json(values: Mapping[str, Any]) -> str:
    """Return an answer as JSON."""
    return json.dumps(values, indent=2)


def finite(value: float) -> float | None:
    """Return None instead of infinity, which JSON does not have."""
    return value if math.isfinite(value) else None


def shown(values: Mapping[str, Any]) -> str:
    """Return the text of an answer: a line for every name, and one for every entry of a list."""
    width = max(map(len, values))
    lines = []
    for name, value in values.items():
        has_entries = isinstance(value, list | tuple) and value and isinstance(value[0], dict)
        mark = f"{name:<{width}}  "
        for entry in value if has_entries else [value]:
            lines.append(wrapped([_short(entry) or "none"], mark, "  "))
            mark = " " * len(mark)
    meanings = wrapped([f"{name}: {MEANINGS[name]}" for name in sorted(MEANINGS) if name in values], hang="    ")
    return "\n".join(lines) + (f"\n\n{meanings}" if meanings else "")


def _short(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_short, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def wrapped(sentences: Sequence[str], mark: str = "", hang: str = "") -> str:
    """Write each sentence on its own lines, 80 characters wide, after a mark; further lines are indented."""
    rest = " " * len(mark) + hang
    # a number and its sign of per cent stay together
    texts = (each.replace(" %", "\u00a0%") for each in sentences)
    filled = (textwrap.fill(each, WIDTH, initial_indent=mark, subsequent_indent=rest) for each in texts)
    return "\n".join(filled).replace("\u00a0", " ")


def write_table(path: Path, names: Sequence[str], rows: Iterable[Mapping[str, Any]], made: str = "") -> None:
    """Write some columns of rows as CSV, row by row; a line that begins with # says how they were made.

    Then text is in quotes, so that no reader takes an item called #1 for such a line.
    """
    with writing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {made}\n" if made else "")
        file.write(",".join(names) + "\n")
        quoting: Any = csv.QUOTE_NONNUMERIC if made else csv.QUOTE_MINIMAL
        table = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n", quoting=quoting)
        table.writerows(rows)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table, 80 characters wide; the first column is text, the others are numbers.

    Columns without a value are left out. What is too long goes on in the next line.
    """
    from rich.console import Console
    from rich.table import Table

    names = list(dict.fromkeys(name for row in rows for name, value in row.items() if value is not None))
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        made.add_column(name, justify="left" if name == names[0] else "right", overflow="fold")
    for row in rows:
        made.add_row(*(_short(row.get(name)) for name in names))
    console = Console(width=WIDTH, color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(made)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def draw(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    along: str,
    path: Path,
    title: str = "",
) -> None:
    """Draw the curves of each measure in a panel, on logarithmic axes, into a file of type .png, .pdf or .svg."""
    from segshuffle.drawing.style import finished, log_axes, panel_grid, save

    figure, grid = panel_grid(len(panels), height=2.6 if len(panels) > 1 else 4.0)
    for axes, (measure, curves) in zip(grid, panels.items(), strict=True):
        for points, look in zip(curves.values(), series_looks(curves), strict=True):
            axes.plot(*zip(*points, strict=True), **stroke(look, markersize=4))
        log_axes(axes)
        axes.set(xlabel=along, ylabel=measure, title=title)
    save(finished(figure), [path])


def write(program: str, text: str) -> int:
    """Write the answer to standard output, and return the exit status."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        safe, encoding = printable(text, "\n\t"), sys.stdout.encoding or "utf-8"  # a stream in memory has none
        # no empty line for an empty text: a client may have no message to send
        print(safe.encode(encoding, "backslashreplace").decode(encoding), end="\n" if text else "", flush=True)
    except (OSError, ValueError) as error:  # ValueError: the output is closed
        # a closed pipe (head, less) is no error
        if not isinstance(error, BrokenPipeError):
            reason = getattr(error, "strerror", None) or error
            complain(f"{program}: standard output cannot be written ({reason}). Send it elsewhere, such as > FILE.")
        # Python flushes the buffer again at exit: send the rest to nowhere
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def seldom(line: Callable[..., str]) -> Callable[..., None]:
    """Return a function that writes `line` of its arguments to standard error, at most once in five seconds."""
    last = time.monotonic()

    def say(*done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 5.0:
            last = time.monotonic()
            complain(line(*done))

    return say


def printable(text: str, kept: str = "") -> str:
    """Return a text in which characters that steer a terminal, or are not seen, are written as in JSON, but `kept`."""
    odd = {each for each in set(text).difference(kept) if not each.isprintable()}
    return text.translate({ord(each): f"\\u{ord(each):04x}" for each in odd})


def complain(message: str) -> None:
    """Write a line to standard error, if it is open."""
    with contextlib.suppress(OSError, ValueError):
        print(printable(message), file=sys.stderr, flush=True)
