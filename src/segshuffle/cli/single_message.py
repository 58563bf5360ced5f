"""`segshuffle account` for one message per user: what is sent, what is asked, answers as text, JSON and files."""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from segshuffle.accounting.numerics.ranges import LARGEST_USERS
from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.accounting.single_message.amplification import Entry, accountant, applicable, compare, local_epsilon_for
from segshuffle.accounting.single_message.mechanisms import (
    MECHANISMS,
    MULTI_MESSAGE,
    composed,
    mechanism,
    of_matrix,
    subsampled,
)
from segshuffle.cli.matrix_file import read_matrix
from segshuffle.cli.sweep import as_csv, as_table, draw, swept
from segshuffle.cli.terminal import integer, number, shown
from segshuffle.errors import DataError, ParameterError
from segshuffle.files import refuse_overwriting, write_atomically

Make = Callable[[float | None], Mechanism]


@dataclass(frozen=True)
class _Point:
    """One question; None is what is asked for."""

    n_users: int
    local_epsilon: float | None
    delta: float | None
    epsilon: float | None


def answer(options: argparse.Namespace) -> str:
    """Answer one question, or a curve of them."""
    if options.budgets is not None:
        return _budgets(options)
    refuse_overwriting("csv", options.csv, (options.matrix,))
    users, counted = _users(options)
    inverse = _is_inverse(options)
    local = (None,) if options.matrix is not None else options.local_epsilon or (None,)
    targets = {"delta": options.delta or (None,), "epsilon": options.epsilon or (None,)}
    along = swept({counted: users, "local_epsilon": local, **targets})
    make = _maker(options)
    points = [_Point(n, e0, d, e) for n in users for e0 in local for d in targets["delta"] for e in targets["epsilon"]]
    asked = "local_epsilon" if inverse else "epsilon" if options.delta else "delta"
    extra = 1 if counted == "blanket_messages" else 0
    only = tuple(name for name in (options.accountant or "").split(",") if name)
    ask = _inverse if inverse else _direct
    answers = [ask(make, point, extra, only) for point in points]
    rows = [
        _row(point, counted, entry, asked)
        for point, (_, entries, _) in zip(points, answers, strict=True)
        for entry in entries
    ]
    if along is None:
        text = _single(options, points[0], counted, asked, *answers[0])
    else:
        fixed = {counted: points[0].n_users, "delta": points[0].delta, "epsilon": points[0].epsilon}
        text = _curve(options, rows, along, asked, {**_head(answers[0][0]), **fixed})
    _files(options, rows, along, asked, answers[0][0])
    return text


def _is_inverse(options: argparse.Namespace) -> bool:
    """Whether a local epsilon is asked for; refuses what asks for nothing or for two things."""
    both = options.delta is not None and options.epsilon is not None
    if options.delta is None and options.epsilon is None:
        raise ParameterError(
            "delta, epsilon", (None, None), "exactly one of the two given, or both to ask for the local epsilon"
        )
    if both and options.local_epsilon is not None:
        raise ParameterError(
            "delta, epsilon",
            (options.delta[0], options.epsilon[0]),
            "exactly one of the two given with --local-epsilon; both without it ask for the local epsilon",
        )
    if both and options.matrix is not None:
        raise ParameterError("epsilon", options.epsilon[0], "left out with --matrix at a delta: its law is fixed")
    if both and any(not MECHANISMS[name].local for name in _names(options) if name in MECHANISMS):
        raise ParameterError("epsilon", options.epsilon[0], "left out at a delta: this has no local epsilon to ask for")
    return both


def _users(options: argparse.Namespace) -> tuple[tuple[int, ...], str]:
    """Numbers of users or of blanket messages, and which of the two."""
    multi = [name for name in _names(options) if name in MULTI_MESSAGE]
    given, other = ("blanket_messages", "users") if multi else ("users", "blanket_messages")
    if getattr(options, other) is not None:
        what = f"{multi[0]}, whose messages hide among dummy ones" if multi else "what hides among other users"
        rule = f"left out for {what}: give --{given.replace('_', '-')}"
        raise ParameterError(other.replace("_", "-"), getattr(options, other)[0], rule)
    values = getattr(options, given)
    if values is None:
        options.refuse(f"the following arguments are required: --{given.replace('_', '-')}")
    if multi and not all(0 <= value < LARGEST_USERS for value in values):
        raise ParameterError("blanket-messages", values[0], f"integers in [0, {LARGEST_USERS:g})")
    return values, "n_users" if given == "users" else given


def _maker(options: argparse.Namespace) -> Make:
    """Return what makes the mechanism of a local epsilon; a matrix is made and checked once."""
    if options.matrix is not None:
        return _of_file(options)
    if options.compose is None:
        if len(options.randomizer) > 1:
            raise ParameterError("randomizer", " ".join(options.randomizer), "one, or several with --compose")
        if options.weights is not None:
            raise ParameterError("weights", options.weights, "left out, or given with --compose parallel")
    specs = [_spec(text) for text in options.randomizer]

    def make(local_epsilon: float | None) -> Mechanism:
        shared = {} if local_epsilon is None else {"local_epsilon": local_epsilon}
        parts = [mechanism(name, **{**shared, **own}) for name, own in specs]
        found = parts[0] if options.compose is None else composed(parts, options.compose, options.weights)
        return found if options.subsample is None else subsampled(found, options.subsample)

    searched = options.delta is not None and options.epsilon is not None
    if options.local_epsilon is None and not searched and any(_lacks_local(*spec) for spec in specs):
        options.refuse("the following arguments are required: --local-epsilon")
    return make


def _lacks_local(name: str, own: dict[str, Any]) -> bool:
    return name in MECHANISMS and MECHANISMS[name].local and "local_epsilon" not in own


def _of_file(options: argparse.Namespace) -> Make:
    for name, value in (("compose", options.compose), ("weights", options.weights)):
        if value is not None:
            raise ParameterError(name.replace("_", "-"), value, "left out with --matrix, which says all of it")
    claims = options.local_epsilon or (None,)
    if len(claims) > 1:
        raise ParameterError("local-epsilon", claims, "one claim with --matrix, or left out")
    whole = of_matrix(read_matrix(options.matrix, claims[0]))
    made = whole if options.subsample is None else subsampled(whole, options.subsample)
    return lambda _: made


def _names(options: argparse.Namespace) -> list[str]:
    return [_spec(text)[0] for text in options.randomizer or ()]


def _spec(text: str) -> tuple[str, dict[str, Any]]:
    """Read a randomizer and its parameters, ``krr`` or ``krr:domain-size=4,local-epsilon=1``."""
    name, _, rest = text.partition(":")
    own = {}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        for read in (integer, number):
            with contextlib.suppress(argparse.ArgumentTypeError):
                own[key.strip().replace("-", "_")] = read(value)
                break
        else:
            raise ParameterError("randomizer", text, f"{name}:option=value,... with numbers as values")
    return name, own


_Row = dict[str, Any]
_Answer = tuple[Mechanism, list[Entry], dict[str, str]]


def _direct(make: Make, point: _Point, extra: int, only: tuple[str, ...]) -> _Answer:
    chosen = make(point.local_epsilon)
    return (
        chosen,
        *compare(mechanism=chosen, n_users=point.n_users + extra, delta=point.delta, epsilon=point.epsilon, only=only),
    )


def _inverse(make: Make, point: _Point, extra: int, only: tuple[str, ...]) -> _Answer:
    """Search the local epsilon of every accountant that applies at both ends of what is searched."""
    assert point.delta is not None
    assert point.epsilon is not None
    example = make(1.0)
    entries, left_out = [], {}
    for each in [accountant(name) for name in only] or applicable(example):
        found = local_epsilon_for(each, make, n_users=point.n_users + extra, epsilon=point.epsilon, delta=point.delta)
        if 0.0 < found < math.inf:
            kind, status = each.kind_for(example), each.status_for(example)
            entries.append(Entry(each.name, found, kind, status, each.source))
        else:
            left_out[each.name] = "no local epsilon from 1e-6 to 50 " + ("reaches it" if found == 0.0 else "misses it")
    return example, entries, left_out


def _row(point: _Point, counted: str, entry: Entry, asked: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        counted: point.n_users,
        "local_epsilon": point.local_epsilon,
        "delta": point.delta,
        "epsilon": point.epsilon,
    }
    row |= {asked: entry.value, "accountant": entry.accountant, "kind": entry.kind}
    return {name: value for name, value in row.items() if value is not None}


def _head(chosen: Mechanism) -> dict[str, Any]:
    local = {} if chosen.local_epsilon == math.inf else {"local_epsilon": chosen.local_epsilon}
    return {"randomizer": chosen.name, **local, **chosen.parameters}


def _single(
    options: argparse.Namespace,
    point: _Point,
    counted: str,
    asked: str,
    chosen: Mechanism,
    entries: list[Entry],
    left_out: dict[str, str],
) -> str:
    head = _head(chosen)
    if asked == "local_epsilon":
        head.pop("local_epsilon", None)
    given = {"delta": point.delta, "epsilon": point.epsilon}
    head |= {counted: point.n_users, **{name: value for name, value in given.items() if value is not None}}
    return _told(options, head, asked, entries, left_out)


def _told(
    options: argparse.Namespace, head: dict[str, Any], asked: str, entries: list[Entry], left_out: dict[str, str]
) -> str:
    """Say what every accountant answers, below what was asked."""
    rows = [
        {"accountant": e.accountant, asked: e.value, "kind": e.kind, "status": e.status, "source": e.source}
        for e in entries
    ]
    if options.json:
        return shown({**head, "accountants": rows, "not_applicable": left_out}, as_json=True)
    width = max(map(len, [e.accountant for e in entries] + list(left_out)), default=0)
    lines = [shown(head, as_json=False), ""]
    lines += [f"{e.accountant:<{width}}  {asked} {e.value:<12.6g} {e.kind:<10}  {e.status}" for e in entries]
    lines += [f"{name:<{width}}  not applicable: {reason}" for name, reason in left_out.items()]
    return "\n".join(lines)


def _curve(options: argparse.Namespace, rows: list[_Row], along: str, asked: str, fixed: _Row) -> str:
    head = {name: value for name, value in fixed.items() if name not in (along, asked) and value is not None}
    if not rows:
        raise DataError("no accountant has a number for any of these values; ask for one value to see why.")
    if options.json:
        return shown({**head, "rows": rows}, as_json=True)
    kinds = {row["accountant"]: row["kind"] for row in rows}
    told = shown({**head, "asked": asked, **kinds}, as_json=False)
    return f"{told}\n\n{as_table(rows, along, asked)}"


def _files(
    options: argparse.Namespace, rows: list[dict[str, Any]], along: str | None, asked: str, chosen: Mechanism
) -> None:
    if options.plot is not None and along is None:
        raise ParameterError("plot", str(options.plot), "left out, or several values given, e.g. --users 1e3..1e9")
    if options.csv is not None and rows:
        write_atomically(options.csv, as_csv(rows))
    if options.plot is not None and along is not None:
        draw(rows, along, asked, chosen.name, options.plot)


def _budgets(options: argparse.Namespace) -> str:
    """Users with a local epsilon of their own: published bounds, and what is proven for the largest one."""
    from segshuffle.accounting.single_message.amplification import compare_budgets

    alone = ("users", "local_epsilon", "compose", "weights", "subsample", "blanket_messages", "domain_size")
    for name in (*alone, "accountant", "csv", "plot"):
        if getattr(options, name) is not None:
            raise ParameterError(name.replace("_", "-"), getattr(options, name), "left out with --budgets")
    if not all(isinstance(users, int) for _, users in options.budgets):
        written = ",".join(f"{level:g}" if users is None else f"{level:g}:{users}" for level, users in options.budgets)
        raise ParameterError("budgets", written, "epsilon:users for every budget, e.g. 0.5:1000,2:500")
    delta, epsilon = ((values or (None,)) for values in (options.delta, options.epsilon))
    if len(delta) > 1 or len(epsilon) > 1:
        raise ParameterError("delta, epsilon", "several values", "one value with --budgets")
    entries, left_out = compare_budgets(budgets=options.budgets, delta=delta[0], epsilon=epsilon[0])
    asked = "epsilon" if delta[0] is not None else "delta"
    head = {"budgets": [level for level, _ in options.budgets], "counts": [users for _, users in options.budgets]}
    target = {"delta": delta[0]} if asked == "epsilon" else {"epsilon": epsilon[0]}
    return _told(options, {**head, **target}, asked, entries, left_out)
