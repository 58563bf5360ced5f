"""The command line: plan a collection, account for one, fetch the MSNBC log.

Errors are one sentence on standard error with the name, the value and the allowed range; the exit status is 2.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from segshuffle.errors import DataError, ParameterError, SegshuffleError

_DESCRIPTION = "Segmented private data aggregation in the multi-message shuffle model."


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message} (see {self.prog} --help)\n")
        raise SystemExit(2)


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
    plan.add_argument("--accountant", choices=["published"], default="published", help="which privacy analysis")
    plan.add_argument("--item-frequencies", help="d comma-separated frequencies, or a file of them; default: uniform")
    plan.add_argument("--json", action="store_true", help="print JSON")
    plan.set_defaults(run=_plan)

    account = commands.add_parser("account", help="item-level delta of given parameters")
    account.add_argument("--domain-size", type=_integer, required=True, help="number of items d (>= 2)")
    account.add_argument("--users", type=_integer, required=True, help="number of users n (>= 1)")
    account.add_argument("--blanket-per-user", type=_number, required=True, help="expected blanket messages per user m")
    account.add_argument("--sampling-rate", type=_number, required=True, help="rate of held items, in (0, 1]")
    account.add_argument("--epsilon", type=_number, required=True, help="item-level epsilon, in [0, 300]")
    account.add_argument("--json", action="store_true", help="print JSON")
    account.set_defaults(run=_account)

    fetch = commands.add_parser("fetch-msnbc", help="download and verify the MSNBC log")
    fetch.add_argument("destination", type=Path, help="file to write (gzip)")
    fetch.add_argument("--deadline", type=_number, default=30.0, help="seconds after which to give up (default 30)")
    fetch.set_defaults(run=_fetch)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        options.run(options)
    except SegshuffleError as error:
        print(f"segshuffle {options.command}: {error}", file=sys.stderr)
        return 2
    return 0


def _plan(options: argparse.Namespace) -> None:
    from segshuffle.protocols import Problem, Segmented
    from segshuffle.protocols.base import uniform_item_counts
    from segshuffle.protocols.segmented import expected_mse, least_blankets

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
    plan = Segmented(options.blanket_per_user).plan(problem)
    rates = plan.parameters["sampling_rates"]
    _show(
        {
            "blanket_per_user": plan.blanket_per_user,
            "sampling_rates": list(rates),
            "messages_per_user": plan.messages_per_user,
            "mse_bound": plan.mse_bound,
            "mse_sample": expected_mse(problem, plan.blanket_per_user, rates, counts),
            "m_min": list(least_blankets(problem)),
            "levels": list(problem.levels),
            "level_counts": list(problem.level_counts),
            "delta": problem.delta,
            "accountant": options.accountant,
            "kind": plan.kind,
        },
        as_json=options.json,
    )


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


def _account(options: argparse.Namespace) -> None:
    from segshuffle.accounting.segmented import proven_lower_item_delta, published_item_delta

    parameters: dict[str, Any] = {
        "domain_size": options.domain_size,
        "n_users": options.users,
        "blanket_per_user": options.blanket_per_user,
        "sampling_rate": options.sampling_rate,
        "epsilon": options.epsilon,
    }
    published = published_item_delta(**parameters)
    proven = proven_lower_item_delta(**parameters)
    _show(
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


def _fetch(options: argparse.Namespace) -> None:
    from segshuffle.datasets import download_sessions

    if not 0 < options.deadline <= 3600:
        raise ParameterError("deadline", options.deadline, "in (0, 3600] seconds")
    url = download_sessions(options.destination, deadline_seconds=options.deadline, log=_to_stderr)
    print(f"{options.destination}: verified, from {url}")


def _to_stderr(message: str) -> None:
    print(message, file=sys.stderr)


def _show(values: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(values, indent=2))
        return
    width = max(map(len, values))
    for name, value in values.items():
        shown = ", ".join(map(_short, value)) if isinstance(value, list) else _short(value)
        print(f"{name:<{width}}  {shown}")


def _short(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main())
