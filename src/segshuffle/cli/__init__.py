"""The command line: plan a collection, account for one, simulate one, fetch the MSNBC log.

Errors are one sentence on standard error with the name, the value and the allowed range; the exit status is 2.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from segshuffle.errors import DataError, InfeasibleError, ParameterError, SegshuffleError

if TYPE_CHECKING:
    from segshuffle.protocols.base import Problem

_DESCRIPTION = "Segmented private data aggregation in the multi-message shuffle model."


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        _complain(f"{self.prog}: {message} (see {self.prog} --help)")
        raise SystemExit(2)

    def print_help(self, file: Any = None) -> None:
        if file is not None:
            super().print_help(file)
        elif status := _write(self.prog, self.format_help().rstrip("\n")):
            raise SystemExit(status)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None


def _levels(text: str) -> tuple[tuple[float, int], ...]:
    """Read ``epsilon:users`` pairs separated by commas."""
    pairs = []
    for part in text.split(","):
        level, colon, users = part.partition(":")
        try:
            if not colon:
                raise ValueError
            pairs.append((float(level), int(users)))
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{part!r} is not a level: write epsilon:users pairs with commas, e.g. 0.5:1250,1.0:2500"
            ) from None
    return tuple(pairs)


def build_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    parser = _Parser(prog="segshuffle", description=_DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    plan = commands.add_parser("plan", help="choose the blanket and the sampling rates of a collection")
    plan.add_argument("--domain-size", type=_integer, required=True, help="number of items d (>= 2)")
    plan.add_argument("--set-size", type=_integer, required=True, help="items per user s (1 <= s <= d)")
    plan.add_argument("--levels", type=_levels, required=True, help="epsilon:users pairs, e.g. 0.5:1250,1.0:2500")
    plan.add_argument("--delta", type=_number, required=True, help="failure probability, in (0, 1)")
    plan.add_argument(
        "--blanket-per-user", type=_number, help="expected blanket messages per user m; default: optimise"
    )
    plan.add_argument(
        "--accountant",
        choices=["tight", "published"],
        default="tight",
        help="tight: Poisson blanket, proven (default); published: the paper's, not proven",
    )
    _add_copies(plan)
    plan.add_argument("--item-frequencies", help="d comma-separated frequencies, or a file of them; default: uniform")
    plan.add_argument("--json", action="store_true", help="print JSON")
    plan.set_defaults(run=_plan)

    _add_account(commands)

    simulate = commands.add_parser("simulate", help="run a collection on a file of item sets")
    simulate.add_argument("file", type=Path, help="one user per line: distinct items 0..d-1, the same number for all")
    simulate.add_argument("--domain-size", type=_integer, required=True, help="number of items d")
    simulate.add_argument("--levels", type=_levels, required=True, help="epsilon:users pairs, assigned at random")
    simulate.add_argument("--delta", type=_number, required=True, help="failure probability, in (0, 1)")
    simulate.add_argument("--accountant", choices=["tight", "published"], default="tight", help="which protocol")
    _add_copies(simulate)
    simulate.add_argument("--messages", action="store_true", help="message by message, both rounds (default: counts)")
    simulate.add_argument("--level-epsilon", type=_number, help="privacy of the levels themselves; default: anonymised")
    simulate.add_argument("--level-delta", type=_number, help="its failure probability; default: --delta")
    simulate.add_argument("--seed", type=_integer, default=0, help="seed of everything random (default 0)")
    simulate.add_argument("--chunk-users", type=_integer, help="users per chunk with --messages: bounds the memory")
    simulate.add_argument("--json", action="store_true", help="print JSON")
    simulate.set_defaults(run=_simulate)

    fetch = commands.add_parser("fetch-msnbc", help="download and verify the MSNBC log")
    fetch.add_argument("destination", type=Path, help="file to write (gzip)")
    fetch.add_argument("--deadline", type=_number, default=30.0, help="seconds after which to give up (default 30)")
    fetch.set_defaults(run=_fetch)
    return parser


def _add_account(commands: Any) -> None:
    account = commands.add_parser(
        "account",
        help="privacy numbers of given parameters",
        description="Item-level delta of the segmented protocol; or, with --randomizer, every accountant of one "
        "shuffled message per user: epsilons at --delta, or deltas at --epsilon.",
    )
    account.add_argument("--users", type=_integer, required=True, help="number of users n (>= 1)")
    account.add_argument("--epsilon", type=_number, help="epsilon at which deltas are asked for, in [0, 300]")
    account.add_argument("--domain-size", type=_integer, help="number of items d, or of options of the randomizer")
    segmented = account.add_argument_group("segmented protocol")
    segmented.add_argument("--blanket-per-user", type=_number, help="expected blanket messages per user m")
    segmented.add_argument("--sampling-rate", type=_number, help="rate of held items, in (0, 1]")
    single = account.add_argument_group("one message per user")
    single.add_argument("--randomizer", help="krr, blh, rappor, oue, hadamard, subset-selection, ... or general")
    single.add_argument("--local-epsilon", type=_number, help="its local guarantee, in [1e-12, 50]")
    single.add_argument("--delta", type=_number, help="target in (0, 1): asks for epsilons")
    single.add_argument("--set-size", type=_integer, help="items per user, for subset-exponential")
    single.add_argument("--subset-size", type=_integer, help="size of the reported subset")
    single.add_argument("--order", type=_integer, help="outputs of Hadamard response, a power of 2")
    account.add_argument("--json", action="store_true", help="print JSON")
    account.set_defaults(run=_account, refuse=account.error)


def _add_copies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--copies-max", type=_number, default=1.0, help="tight: most copies of an item (default 1)")
    parser.add_argument("--max-messages", type=_number, help="tight: budget of expected messages per user")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = build_parser().parse_args(arguments)
    program = f"segshuffle {options.command}"
    try:
        answer = options.run(options)
    except SegshuffleError as error:
        _complain(f"{program}: {error}")
        return 2
    return _write(program, answer)


def _write(program: str, text: str) -> int:
    """Write all of the answer to standard output; returns the exit status."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        print(text, flush=True)
    except (OSError, ValueError) as error:  # ValueError: closed by the caller, or a character it cannot show
        # a reader that has gone (head, less) has seen enough
        if not isinstance(error, BrokenPipeError):
            reason = getattr(error, "strerror", None) or error
            _complain(f"{program}: standard output cannot be written ({reason}). Write to a disk with room.")
        # what is still in the buffer is flushed again at exit: let it go nowhere
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _complain(message: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)


def _plan(options: argparse.Namespace) -> str:
    from segshuffle.protocols.base import Problem, uniform_item_counts

    problem = Problem(
        domain_size=options.domain_size,
        set_size=options.set_size,
        levels=tuple(level for level, _ in options.levels),
        level_counts=tuple(users for _, users in options.levels),
        delta=options.delta,
    )
    counts = uniform_item_counts(problem)
    if options.item_frequencies is not None:
        counts = problem.n_users * _frequencies(options.item_frequencies, problem.domain_size, problem.set_size)
    values = (_plan_tight if options.accountant == "tight" else _plan_published)(options, problem, counts)
    public = {
        "levels": list(problem.levels),
        "level_counts": list(problem.level_counts),
        "delta": problem.delta,
        "accountant": options.accountant,
    }
    return _shown({**values, **public}, as_json=options.json)


def _plan_published(options: argparse.Namespace, problem: Problem, counts: Any) -> dict[str, Any]:
    from segshuffle.protocols.segmented import Segmented, expected_mse, least_blankets

    for name, value in (("copies-max", options.copies_max), ("max-messages", options.max_messages)):
        if value not in (None, 1.0):
            raise ParameterError(name, value, "left out with --accountant published")
    plan = Segmented(options.blanket_per_user).plan(problem)
    rates = plan.parameters["sampling_rates"]
    return {
        "blanket_per_user": plan.blanket_per_user,
        "sampling_rates": list(rates),
        "messages_per_user": plan.messages_per_user,
        "mse_bound": plan.mse_bound,
        "mse_sample": expected_mse(problem, plan.blanket_per_user, rates, counts),
        "m_min": _each_level(least_blankets, problem),
        "kind": plan.kind,
    }


def _each_level(least_blankets: Callable[[Problem], tuple[float, ...]], problem: Problem) -> list[float | None]:
    """Least blanket at which each level sends every item; None if no blanket will do, which is no need of the plan."""
    found: list[float | None] = []
    for level in problem.levels:
        try:
            found += least_blankets(replace(problem, levels=(level,), level_counts=(problem.n_users,)))
        except InfeasibleError:
            found.append(None)
    return found


def _plan_tight(options: argparse.Namespace, problem: Problem, counts: Any) -> dict[str, Any]:
    from segshuffle.protocols.poisson import PoissonSegmented, least_blankets
    from segshuffle.protocols.segmented import mse_bound

    method = PoissonSegmented(options.blanket_per_user, options.copies_max, options.max_messages)
    plan = method.plan(problem)
    copies = plan.parameters["copies"]
    # up to one copy, copies are sampling rates and the paper's error bound applies
    sampling = max(copies) <= 1.0
    return {
        "blanket_per_user": plan.blanket_per_user,
        **({"sampling_rates": list(copies)} if sampling else {"copies": list(copies)}),
        "messages_per_user": plan.messages_per_user,
        "mse_bound": mse_bound(problem, plan.blanket_per_user, copies) if sampling else None,
        "mse_sample": method.expected_mse(plan, counts),
        "m_min": _each_level(least_blankets, problem),
        "certificate": plan.parameters["certificate"],
        "kind": plan.kind,
    }


def _simulate(options: argparse.Namespace) -> str:
    from segshuffle.cli.simulate_file import simulate_file
    from segshuffle.protocols.messages import LevelPrivacy

    privacy = None
    if options.level_epsilon is None and options.level_delta is not None:
        raise ParameterError("level-delta", options.level_delta, "left out, or given together with --level-epsilon")
    if options.level_epsilon is not None:
        delta = options.delta if options.level_delta is None else options.level_delta
        privacy = LevelPrivacy(options.level_epsilon, delta)
    found = simulate_file(
        options.file,
        domain_size=options.domain_size,
        delta=options.delta,
        level_counts=options.levels,
        accountant=options.accountant,
        max_messages=options.max_messages,
        copies_max=options.copies_max,
        messages=options.messages,
        level_privacy=privacy,
        seed=options.seed,
        chunk_users=options.chunk_users,
    )
    return _shown(found, as_json=options.json)


def _frequencies(text: str, domain_size: int, set_size: int) -> Any:
    """Item frequencies from a comma-separated list or a file with one per line or comma."""
    import numpy as np

    path = Path(text)
    try:
        content = path.read_text(encoding="utf-8") if path.is_file() else text
        values = np.array([float(part) for part in content.replace(",", " ").split()])
    except (ValueError, OSError, UnicodeDecodeError) as error:
        raise DataError(f"item-frequencies = {text!r} is neither a file nor a list of numbers: {error}.") from error
    if values.size != domain_size:
        raise ParameterError("item-frequencies", f"{values.size} numbers", f"domain-size = {domain_size} numbers")
    if not ((values >= 0) & (values <= 1)).all() or abs(values.sum() - set_size) > 1e-6 * set_size:
        raise ParameterError("item-frequencies", text, f"in [0, 1] with sum set-size = {set_size}")
    return values


_SEGMENTED = ("domain_size", "blanket_per_user", "sampling_rate", "epsilon")
_SINGLE = ("local_epsilon", "delta", "set_size", "subset_size", "order")


def _account(options: argparse.Namespace) -> str:
    single = options.randomizer is not None
    for name in ("blanket_per_user", "sampling_rate") if single else _SINGLE:
        if getattr(options, name) is not None:
            rule = f"left out {'with' if single else 'without'} --randomizer"
            raise ParameterError(name.replace("_", "-"), getattr(options, name), rule)
    needed = ("local_epsilon",) if single else _SEGMENTED
    missing = ["--" + name.replace("_", "-") for name in needed if getattr(options, name) is None]
    if missing:
        options.refuse(f"the following arguments are required: {', '.join(missing)}")
    return (_account_single if single else _account_segmented)(options)


def _account_single(options: argparse.Namespace) -> str:
    from segshuffle.accounting.single_message.amplification import compare
    from segshuffle.accounting.single_message.mechanisms import mechanism

    sizes = {name: getattr(options, name) for name in ("domain_size", "set_size", "subset_size", "order")}
    chosen = mechanism(
        options.randomizer,
        local_epsilon=options.local_epsilon,
        **{name: value for name, value in sizes.items() if value is not None},
    )
    entries, left_out = compare(mechanism=chosen, n_users=options.users, delta=options.delta, epsilon=options.epsilon)
    asked = "epsilon" if options.delta is not None else "delta"
    given = {"delta": options.delta} if asked == "epsilon" else {"epsilon": options.epsilon}
    head = {"randomizer": chosen.name, "local_epsilon": chosen.local_epsilon, **chosen.parameters}
    head |= {"n_users": options.users, **given}
    rows = [
        {"accountant": e.accountant, asked: e.value, "kind": e.kind, "status": e.status, "source": e.source}
        for e in entries
    ]
    if options.json:
        return _shown({**head, "accountants": rows, "not_applicable": left_out}, as_json=True)
    width = max(map(len, [e.accountant for e in entries] + list(left_out)), default=0)
    lines = [_shown(head, as_json=False), ""]
    lines += [f"{e.accountant:<{width}}  {asked} {e.value:<12.6g} {e.kind:<10}  {e.status}" for e in entries]
    lines += [f"{name:<{width}}  not applicable: {reason}" for name, reason in left_out.items()]
    return "\n".join(lines)


def _account_segmented(options: argparse.Namespace) -> str:
    from segshuffle.accounting.collections.published import proven_lower_item_delta, published_item_delta

    parameters: dict[str, Any] = {
        "domain_size": options.domain_size,
        "n_users": options.users,
        "blanket_per_user": options.blanket_per_user,
        "sampling_rate": options.sampling_rate,
        "epsilon": options.epsilon,
    }
    published = published_item_delta(**parameters)
    proven = proven_lower_item_delta(**parameters)
    return _shown(
        {
            **parameters,
            "item_delta": {
                "lower": published.lower,
                "upper": published.upper,
                "accountant": "published",
                "kind": "published",
            },
            "proposition_1": {"lower": proven.lower, "kind": "lower"},
        },
        as_json=options.json,
    )


def _fetch(options: argparse.Namespace) -> str:
    from segshuffle.datasets.fetch import download_sessions

    if not 0 < options.deadline <= 3600:
        raise ParameterError("deadline", options.deadline, "in (0, 3600] seconds")
    url = download_sessions(options.destination, deadline_seconds=options.deadline, log=_complain)
    return f"{options.destination}: verified, from {url}"


def _shown(values: dict[str, Any], *, as_json: bool) -> str:
    if as_json:
        return json.dumps(values, indent=2)
    width = max(map(len, values))
    return "\n".join(f"{name:<{width}}  {_short(value)}" for name, value in values.items())


def _short(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_short, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
