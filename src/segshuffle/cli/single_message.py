"""`segshuffle account` for one message per user: what is sent, what is asked, answers as text, JSON and files."""

import argparse
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from segshuffle.accounting.numerics.ranges import LARGEST_USERS
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
from segshuffle.cli.terminal import as_csv, as_json, complain, draw, leave_out, need, shown, table, wrapped
from segshuffle.errors import DataError, OptionsError, ParameterError
from segshuffle.files import read_bounded, refuse_overwriting, write_atomically

#: Largest file of a matrix, in bytes.
_MAX_BYTES = 50_000_000

Make = Callable[[float | None], Mechanism]
#: One question: number of users or dummy messages, local epsilon, delta and epsilon; the quantity asked for is missing.
Point = dict[str, Any]
#: The parameters, every accountant's number, and the reasons why other accountants have none.
Found = tuple[Point, list[Entry], dict[str, str]]
Ask = Callable[[Point], Found]


def answer(options: argparse.Namespace) -> str:
    """Answer one question, or a curve of them."""
    names = [text.partition(":")[0] for text in options.randomizer]
    for text, output in itertools.product(options.randomizer, options.save):
        refuse_overwriting("save", output, (text.removeprefix("matrix:"),))
    asked = _asked(options, names)
    given, ask = _of_budgets(options) if names == ["budgets"] else _of_messages(options, names, asked)
    given |= {"delta": options.delta, "epsilon": options.epsilon}
    given = {name: values for name, values in given.items() if values is not None}
    several = [name for name, values in given.items() if len(values) > 1]
    if len(several) > 1:
        raise OptionsError(f"{' and '.join(several)} have several values each: only one quantity may have several.")
    pictures = [path for path in options.save if path.suffix != ".csv"]
    if pictures and not several:
        raise ParameterError("save", str(pictures[0]), "left out, or several values given, e.g. --users 1e3..1e9")
    points = [dict(zip(given, values, strict=True)) for values in itertools.product(*given.values())]
    answers = [ask(point) for point in points]
    rows = [
        {**point, asked: each.value, "accountant": each.accountant, "kind": each.kind}
        for point, (_, entries, _) in zip(points, answers, strict=True)
        for each in entries
    ]
    head, entries, left_out = answers[0]
    head = {name: value for name, value in {**head, **points[0], **head}.items() if name not in (*several, asked)}
    told = _curve(options, head, rows, several[0], asked) if several else _told(options, head, asked, entries, left_out)
    for path in options.save if rows else ():
        if path.suffix == ".csv":
            write_atomically(path, as_csv(rows))
    if pictures:
        _draw(rows, several[0], asked, head["randomizer"], pictures)
    return told


def _asked(options: argparse.Namespace, names: list[str]) -> str:
    """Return which one is asked for: delta, epsilon or local_epsilon; refuse none and two."""
    if options.delta is None and options.epsilon is None:
        raise OptionsError("Give --delta or --epsilon; both, without --local-epsilon, ask for the local epsilon.")
    if options.delta is None or options.epsilon is None:
        return "epsilon" if options.delta else "delta"
    if options.local_epsilon is not None:
        raise OptionsError(
            "--local-epsilon goes with --delta or with --epsilon, not both; leave it out to ask for the local epsilon."
        )
    if any(name in ("matrix", "budgets") or (name in MECHANISMS and not MECHANISMS[name].local) for name in names):
        leave_out(options, ["epsilon"], "at a delta: this has no local epsilon to ask for")
    return "local_epsilon"


def _of_budgets(options: argparse.Namespace) -> tuple[Point, Ask]:
    """Answer for users with their own local epsilons: published bounds, and proven bounds for the largest epsilon."""
    alone = ("users", "local_epsilon", "compose", "subsample", "blanket_messages", "accountant", "save")
    leave_out(options, alone, "with budgets")
    try:
        budgets: Any = levels(options.randomizer[0].removeprefix("budgets:"))
    except argparse.ArgumentTypeError as error:
        raise ParameterError("randomizer", options.randomizer[0], str(error)) from error
    head = dict(zip(("budgets", "counts"), zip(*budgets, strict=True), strict=True))
    return {}, lambda point: (head, *compare_budgets(budgets=budgets, **point))


def _of_messages(options: argparse.Namespace, names: list[str], asked: str) -> tuple[Point, Ask]:
    """Return the given values, and the function that answers, for one message per user or several."""
    counted, users = _users(options, names)
    make = _maker(options, asked)
    only = tuple(name for name in (options.accountant or "").split(",") if name)
    local = None if names == ["matrix"] else options.local_epsilon
    return {counted: users, "local_epsilon": local}, lambda point: _ask(make, point, only)


def _users(options: argparse.Namespace, names: list[str]) -> tuple[str, tuple[int, ...]]:
    """Return whether users or dummy messages are counted, and the numbers of them."""
    multi = [name for name in names if name in MULTI_MESSAGE]
    given, other = ("blanket_messages", "users") if multi else ("users", "blanket_messages")
    what = f"{multi[0]}, whose messages hide among dummy ones" if multi else "messages that hide among other users"
    leave_out(options, [other], f"for {what}: give --{given.replace('_', '-')}")
    need(options, given)
    values: tuple[int, ...] = getattr(options, given)
    outside = [value for value in values if multi and not 0 <= value < LARGEST_USERS]
    if outside:
        raise ParameterError("blanket-messages", outside[0], f"an integer in [0, {LARGEST_USERS:g})")
    return ("blanket_messages" if multi else "n_users"), values


def _maker(options: argparse.Namespace, asked: str) -> Make:
    """Return a function that makes the mechanism for a local epsilon; a matrix is read and checked once."""
    if options.compose is None and len(options.randomizer) > 1:
        raise ParameterError("randomizer", " ".join(options.randomizer), "one, or several with --compose")
    makers = [_of_one(text, options, asked) for text in options.randomizer]

    def make(local_epsilon: float | None) -> Mechanism:
        parts = [each(local_epsilon) for each in makers]
        found = parts[0] if options.compose is None else composed(parts, *options.compose)
        return found if options.subsample is None else subsampled(found, options.subsample)

    return make


def _of_one(text: str, options: argparse.Namespace, asked: str) -> Make:
    """Return a function that makes one randomizer for a local epsilon."""
    if text.startswith("matrix:"):
        claims = options.local_epsilon or (None,)
        if len(claims) > 1:
            raise ParameterError("local-epsilon", claims, "at most one value with a matrix")
        whole = of_matrix(_matrix(Path(text.removeprefix("matrix:")), claims[0]))
        return lambda _: whole
    name, own = spec(text)
    if asked != "local_epsilon" and "local_epsilon" not in own and name in MECHANISMS and MECHANISMS[name].local:
        need(options, "local_epsilon")
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
            rows: Any = np.asarray(np.load(BytesIO(content), allow_pickle=False), dtype=float)
        except (ValueError, TypeError, EOFError) as error:
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
    for number, line in enumerate(content.decode("utf-8-sig", errors="replace").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split(",") if "," in line else line.split()
        width = width or len(words)
        try:
            if len(words) != width:
                raise ValueError(f"{len(words)} entries, not {width}")
            rows[number] = [float(Fraction(word)) if "/" in word else float(word) for word in words]
        except (ValueError, ArithmeticError) as error:
            raise DataError(
                f"{path}, line {number}: {line[:40]!r} is no list of numbers as long as the first one ({error}). Write "
                "0.25, 2.5e-1 or 1/4, and put # before lines that are no numbers."
            ) from error
    return list(rows), list(rows.values())


def _ask(make: Make, point: Point, only: tuple[str, ...]) -> Found:
    """Ask all accountants, or the named ones, for a delta, an epsilon, or the local epsilon for both."""
    n_users = point["n_users"] if "n_users" in point else point["blanket_messages"] + 1
    target = {name: point[name] for name in ("delta", "epsilon") if name in point}
    chosen = make(point.get("local_epsilon", 1.0 if len(target) > 1 else None))
    head = {"randomizer": chosen.name, "local_epsilon": chosen.local_epsilon, **chosen.parameters}
    if chosen.local_epsilon == math.inf:
        del head["local_epsilon"]
    if len(target) == 1:
        return head, *compare(mechanism=chosen, n_users=n_users, only=only, **target)
    entries, left_out = [], {}
    for each in applicable(chosen, only):
        found = local_epsilon_for(each, make, n_users=n_users, **target)
        if 0.0 < found < math.inf:
            entries.append(Entry.of(each, chosen, found))
        else:
            does = "meets" if found == 0.0 else "provably misses"
            left_out[each.name] = f"no local epsilon from 1e-6 to 50 {does} the targets"
    return head, entries, left_out


def _told(
    options: argparse.Namespace, head: dict[str, Any], asked: str, entries: list[Entry], left_out: dict[str, str]
) -> str:
    """Return the text of all answers, below the parameters."""
    rows = [
        {"accountant": e.accountant, asked: e.value, "kind": e.kind, "status": e.status, "source": e.source}
        for e in entries
    ]
    if options.json:
        return as_json({**head, "accountants": rows, "not_applicable": left_out})
    numbers = table([{"accountant": e.accountant, asked: f"{e.value:.6g}", "kind": e.kind} for e in entries])
    named: dict[str, list[str]] = {}
    for name, said in [*((e.accountant, e.status) for e in entries), *left_out.items()]:
        named.setdefault(f"not applicable: {said}" if name in left_out else said, []).append(name)
    words = wrapped([f"{', '.join(names)}: {said}" for said, names in named.items()], hang="    ")
    return "\n\n".join(filter(None, (shown(head), numbers, words)))


def _curve(options: argparse.Namespace, head: Point, rows: list[Point], along: str, asked: str) -> str:
    """Return the text of all answers for several values of a parameter."""
    if not rows:
        raise DataError("no accountant has a number for any of these values; ask for one value to see why.")
    if options.json:
        return as_json({**head, "rows": rows})
    kinds = {row["accountant"]: row["kind"] for row in rows}
    told = shown({**head, "asked": asked, **kinds})
    points: dict[float, Point] = {}
    for row in rows:
        point = points.setdefault(row[along], {along: row[along]})
        point[row["accountant"]] = f"{row[asked]:.6g}"
    return f"{told}\n\n{table([*points.values()])}"


def _draw(rows: list[Point], along: str, asked: str, title: str, paths: list[Path]) -> None:
    """Draw one curve per accountant."""
    drawn = [row for row in rows if row[along] > 0 and 0 < row[asked] < math.inf]
    if hidden := len(rows) - len(drawn):
        missing = "" if drawn else f"; {paths[0]} is not written"
        complain(f"segshuffle account: {hidden} of {len(rows)} points are 0 or infinite and cannot be drawn{missing}")
    if drawn:
        curves: dict[str, list[tuple[float, float]]] = {}
        for row in drawn:
            curves.setdefault(row["accountant"], []).append((row[along], row[asked]))
        draw({asked.replace("_", " "): curves}, along.replace("_", " "), paths, title=title)
