"""`segshuffle account` for all but segmented: what is sent, what is asked, answers as text, JSON and files."""

import itertools
import math
from argparse import Namespace
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.accounting.single_message.amplification import (
    Entry,
    applicable,
    compare,
    compare_budgets,
    local_epsilon_for,
)
from segshuffle.accounting.single_message.mechanisms import (
    MECHANISMS,
    MULTI_MESSAGE,
    composed,
    mechanism,
    of_matrix,
    subsampled,
)
from segshuffle.accounting.single_message.randomizers.matrix import matrix_randomizer
from segshuffle.cli.options import levels, spec
from segshuffle.cli.terminal import as_json, complain, draw, flag, leave_out, need, shown, table, wrapped, write_table
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.errors import DataError, OptionsError, ParameterError
from segshuffle.files import read_bounded, refuse_overwriting, text_of
from segshuffle.numerics.ranges import LARGEST_USERS, check_within

#: Largest file of a matrix, in bytes.
_MAX_BYTES = 50_000_000

#: Significant digits in the text.
_DIGITS = 6
#: What the guarantees compare, in the words of other libraries.
NEIGHBOURS = "neighbours: replace-one (one user's value is replaced by another), n is public"

Make = Callable[[float | None], Mechanism]
#: One question: number of users or dummy messages, local epsilon, delta and epsilon; the quantity asked for is missing.
Point = dict[str, Any]
#: The parameters, every accountant's number, and the reasons why other accountants have none.
Answers = tuple[Point, list[Entry], dict[str, str]]
Ask = Callable[[Point], Answers]


def answer(options: Namespace) -> str:
    """Answer one question, or a curve of them."""
    outputs = [("save", output) for output in options.save]
    refuse_overwriting(outputs, [text.removeprefix("matrix:") for text in options.randomizer])
    names = [text.partition(":")[0] for text in options.randomizer]
    asked = _asked(options, names)
    given, ask = _of_budgets(options) if names == ["budgets"] else _of_messages(options, names, asked)
    given |= {"delta": options.delta, "epsilon": options.epsilon, "rounds": options.rounds}
    given = {name: values for name, values in given.items() if values is not None}
    several = [name for name, values in given.items() if len(values) > 1]
    if len(several) > 1:
        raise OptionsError(f"{' and '.join(several)} have several values each: only one quantity may have several.")
    points = [dict(zip(given, values, strict=True)) for values in itertools.product(*given.values())]
    answers = [ask(point) for point in points]
    rows = []
    for point, (_, entries, _) in zip(points, answers, strict=True):
        rows += [{**point, asked: each.value, "accountant": each.accountant, "kind": each.kind} for each in entries]
    parameters, entries, left_out = answers[0]
    # the parameters that the mechanism reports come first, and replace given ones of the same name
    head = {**parameters, **points[0], **parameters}
    for name in (*several, asked):
        head.pop(name, None)
    _save(options, rows, several, asked)
    if options.json and several:
        return as_json({**head, "rows": rows})
    if options.json:
        known = [
            {asked if name == "value" else name: value for name, value in each._asdict().items()} for each in entries
        ]
        return as_json({**head, "accountants": known, "not_applicable": left_out})
    guarantees = [
        _guarantee(entries, asked, point, several) for point, (_, entries, _) in zip(points, answers, strict=True)
    ]
    return "\n\n".join((_told(head, rows, answers, [*several, asked]), "\n".join([NEIGHBOURS, *guarantees])))


def _save(options: Namespace, rows: list[Point], several: list[str], asked: str) -> None:
    """Write the numbers to tables, and draw their curves in figures."""
    drawn = [row for row in rows if several and 0 < row[asked] < math.inf and row[several[0]] > 0]
    for path in options.save:
        is_table = path.suffix == ".csv"
        if not (rows if is_table else drawn):
            allowed = "left out; or give several values (such as --users 1e3..1e9) that have an answer above 0"
            raise ParameterError("save", str(path), allowed)
        if is_table:
            write_table(path, list(rows[0]), rows)
            continue
        if hidden := len(rows) - len(drawn):
            complain(f"segshuffle account: {hidden} of {len(rows)} points are 0 or infinite and cannot be drawn")
        curves: dict[str, list[tuple[float, float]]] = {}
        for row in drawn:
            curves.setdefault(row["accountant"], []).append((row[several[0]], row[asked]))
        draw({asked.replace("_", " "): curves}, several[0].replace("_", " "), path, title=options.randomizer[0])


def _asked(options: Namespace, names: list[str]) -> str:
    """Return what is asked for, delta, epsilon or local_epsilon; refuse a question that asks for none or for two."""
    given = options.local_epsilon is not None or all("local-epsilon=" in text for text in options.randomizer)
    local = all(name in MECHANISMS and MECHANISMS[name].local for name in names) and not given
    if (options.delta is None) == (options.epsilon is None) and not (options.delta and local):
        raise OptionsError(
            "Give --delta or --epsilon. Give both only to ask for the local epsilon, if the randomizer has one and "
            "--local-epsilon is left out."
        )
    if options.rounds and ((options.delta and options.epsilon) or names == ["budgets"]):
        raise ParameterError("rounds", options.rounds, "left out with budgets, or if a local epsilon is asked for")
    return "local_epsilon" if options.delta and options.epsilon else "epsilon" if options.delta else "delta"


def _of_budgets(options: Namespace) -> tuple[Point, Ask]:
    """Return no values, and the function that answers, for users who have local epsilons of their own."""
    alone = ("users", "local_epsilon", "compose", "subsample", "blanket_messages", "accountant", "save")
    leave_out(options, alone, "with budgets")
    try:
        budgets: Any = levels(options.randomizer[0].removeprefix("budgets:"))
    except ValueError:
        raise ParameterError("randomizer", options.randomizer[0], "budgets:EPSILON:USERS,... with commas") from None
    head = dict(zip(("budgets", "counts"), zip(*budgets, strict=True), strict=True))
    return {}, lambda point: (head, *compare_budgets(budgets=budgets, **point))


def _of_messages(options: Namespace, names: list[str], asked: str) -> tuple[Point, Ask]:
    """Return the given values, and the function that answers, for one message per user or several."""
    given, other = "users", "blanket_messages"
    if any(name in MULTI_MESSAGE for name in names):  # dummies are counted instead of users
        given, other = other, given
    leave_out(options, [other], f"for {names[0]}: give {flag(given)}")
    need(options, given)
    if given != "users":
        check_within("blanket-messages", max(options.blanket_messages), 0, LARGEST_USERS)
    make = _maker(options)
    only = tuple(name for name in (options.accountant or "").split(",") if name)
    counted = "n_users" if given == "users" else given
    local = None if names == ["matrix"] else options.local_epsilon
    values = {counted: getattr(options, given), "local_epsilon": local}
    return values, lambda point: _ask(make, point, asked, only)


def _maker(options: Namespace) -> Make:
    """Return a function that makes the mechanism for a local epsilon; a matrix is read and checked once."""
    if options.compose is None and len(options.randomizer) > 1:
        raise ParameterError("randomizer", " ".join(options.randomizer), "one, or several with --compose")
    makers = [_of_one(text, options) for text in options.randomizer]

    def make(local_epsilon: float | None) -> Mechanism:
        parts = [each(local_epsilon) for each in makers]
        whole = parts[0] if options.compose is None else composed(parts, *options.compose)
        return whole if options.subsample is None else subsampled(whole, options.subsample)

    return make


def _of_one(text: str, options: Namespace) -> Make:
    """Return a function that makes one randomizer for a local epsilon."""
    if text.startswith("matrix:"):
        claims = options.local_epsilon or (None,)
        if len(claims) > 1:
            raise ParameterError("local-epsilon", claims, "at most one value with a matrix")
        whole = of_matrix(_matrix(Path(text.removeprefix("matrix:")), claims[0]))
        return lambda _: whole
    name, own = spec(text)
    return lambda local: mechanism(name, **({} if local is None else {"local_epsilon": local}) | own)


def _matrix(path: Path, claimed_epsilon: float | None) -> Any:
    """Read and check a `MatrixRandomizer`: one line per input, one number (or fraction such as 1/3) per output.

    The file is CSV, TSV, numbers with spaces, or NumPy's .npy. Empty lines and lines that begin with # are left out.

    Raises
    ------
    DataError
        Names file, line, column and value.
    """
    content = read_bounded(path, limit=_MAX_BYTES)
    lines: list[int] = []
    if path.suffix == ".npy":
        try:
            # a file mapped to memory cannot claim more numbers than it has
            entries = np.load(path, mmap_mode="r", allow_pickle=False)
            if entries.dtype.kind not in "biuf":
                raise TypeError(f"its entries are {entries.dtype}")
            rows: Any = np.array(entries, dtype=float)
        except Exception as error:  # numpy reads the header as Python code, so damage has errors of many kinds
            raise DataError(f"{path}: is no .npy file of numbers ({error}). Write one with numpy.save.") from error
    else:
        lines, rows = _lines(path, content)

    def where(row: int, column: int | None) -> str:
        at = f"{path}, line {lines[row]}" if lines else f"{path}, row {row + 1}"
        return at if column is None else f"{at}, column {column + 1}"

    try:
        return matrix_randomizer(rows, claimed_epsilon=claimed_epsilon, where=where)
    except DataError as error:  # adds the file to an error about the whole table
        told = str(error)
        raise DataError(told if told.startswith(str(path)) else f"{path}: {told}") from error


def _lines(path: Path, content: bytes) -> tuple[list[int], list[list[float]]]:
    """Return the numbers of the lines that are rows of the table, and the rows."""
    rows: dict[int, list[float]] = {}
    width = None
    for number, line in enumerate(text_of(content, path).splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        fields = line.split(",") if "," in line else line.split()
        width = width or len(fields)
        try:
            if len(fields) != width:
                raise ValueError(f"{len(fields)} entries, not {width}")
            rows[number] = [float(Fraction(word)) if "/" in word else float(word) for word in fields]
        except (ValueError, ArithmeticError) as error:
            raise DataError(
                f"{path}, line {number}: {line[:40]!r} is no list of numbers as long as the first row ({error!s:.99}). "
                "Write 0.25, 2.5e-1 or 1/4, and put # before lines that are no numbers."
            ) from error
    return list(rows), list(rows.values())


def _ask(make: Make, point: Point, asked: str, only: tuple[str, ...]) -> Answers:
    """Ask all accountants, or the named ones, for a delta, an epsilon, or the local epsilon for both."""
    n_users = point["n_users"] if "n_users" in point else point["blanket_messages"] + 1
    target = {name: point[name] for name in ("delta", "epsilon", "rounds") if name in point}
    chosen = make(1.0 if asked == "local_epsilon" else point.get("local_epsilon"))
    head = {"randomizer": chosen.name, "local_epsilon": chosen.local_epsilon, **chosen.parameters}
    if chosen.local_epsilon == math.inf:
        del head["local_epsilon"]
    if asked != "local_epsilon":
        return head, *compare(mechanism=chosen, n_users=n_users, only=only, **target)
    entries, left_out = [], {}
    for each in applicable(chosen, only):
        local_epsilon = local_epsilon_for(each, make, n_users=n_users, **target)
        if 0.0 < local_epsilon < math.inf:
            entries.append(Entry.of(each, chosen, local_epsilon))
        else:
            does = "meets" if local_epsilon == 0.0 else "provably misses"
            left_out[each.name] = f"no local epsilon from 1e-6 to 50 {does} the targets"
    return head, entries, left_out


def _told(head: Point, rows: list[Point], answers: list[Answers], varied: list[str]) -> str:
    """Return the parameters, every accountant's numbers, and what is known of them."""
    statuses = {each.accountant: each.status for _, entries, _ in answers for each in entries}
    left = {name: why for _, _, left_out in answers for name, why in left_out.items() if name not in statuses}
    statuses |= {name: f"not applicable: {why}" for name, why in left.items()}
    numbers = [
        {name: row[name] for name in ("accountant", *varied, "kind")}
        | {varied[-1]: _safe(row[varied[-1]], row["kind"], varied[-1])}
        for row in sorted(rows, key=lambda row: [*statuses].index(row["accountant"]))
    ]
    said = wrapped([f"{name}: {each}" for name, each in statuses.items()], hang="    ")
    return "\n\n".join((shown(head), *([table(numbers)] if numbers else []), said))


def _guarantee(entries: list[Entry], asked: str, point: Point, several: list[str]) -> str:
    """Say which of the numbers is the guarantee, rounded to the safe side: the best that is proven."""
    where = "".join(f" at {name} = {point[name]:g}" for name in several)
    proven = [each for each in entries if each.guarantee]
    if not proven:
        return f"guarantee{where}: none, because no number is a proven upper bound for whatever the users hold"
    best = (max if asked == "local_epsilon" else min)(proven, key=lambda each: each.value)
    value = _safe(best.value, best.kind, asked)
    return f"guarantee{where}: {asked.replace('_', ' ')} {value:g} ({best.accountant}, {best.kind})"


def _safe(value: float, kind: str, asked: str) -> float:
    """Round what is proven to the safe side: an upper bound of delta or epsilon up, of a local epsilon down."""
    if kind not in ("upper", "lower", "exact"):
        return value
    down = (kind == "lower") != (asked == "local_epsilon")
    return (rounded_down if down else rounded_up)(value, _DIGITS)
