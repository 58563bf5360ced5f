"""Compute how private given parameters are, by every analysis that applies.

What is analysed: one message per user, which a --randomizer (several with --compose) or your own --matrix of
probabilities changes at random; users with --budgets of their own; or, without these options, the segmented protocol.

What is asked: the epsilon at --delta; the delta at --epsilon; or, with both and no --local-epsilon, the local epsilon
that satisfies both. One of --users, --delta, --epsilon and --local-epsilon may have several values (1,2,3 or
1e3..1e9/13): then the answer is a curve, also as --csv and --plot.

Each number says whether it is proven (exact, upper, lower) or only published or asymptotic. Parameters must be
public: a local epsilon or a matrix that was chosen by looking at the data breaks the guarantee.

Examples: segshuffle account --randomizer krr:domain-size=10 --local-epsilon 4 --users 1e3..1e9 --delta 1e-9;
segshuffle account --matrix mine.csv --users 1e4 --delta 1e-6; segshuffle account --randomizer
balls-into-bins:domain-size=100,special-bins=1 --blanket-messages 1e6 --delta 1e-6; segshuffle account --randomizer
general --users 1e6 --epsilon 0.1 --delta 1e-8.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from segshuffle.cli.sweep import integers, numbers
from segshuffle.cli.terminal import integer, leave_out, levels, need, number, picture, shown
from segshuffle.errors import OptionsError, ParameterError

_SEGMENTED = ("domain_size", "blanket_per_user", "sampling_rate")
_SINGLE = ("local_epsilon", "delta", "accountant", "compose", "weights", "subsample", "blanket_messages", "csv", "plot")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--users", type=integers, help="number of users n, in [1, 1e15], e.g. 5000 or 1e6")
    parser.add_argument("--epsilon", type=numbers, help="epsilon at which deltas are computed, in [0, 300]")
    parser.add_argument("--json", action="store_true", help="print JSON")
    segmented = parser.add_argument_group("segmented protocol")
    segmented.add_argument("--domain-size", type=integer, metavar="D", help="number of items d")
    segmented.add_argument(
        "--blanket-per-user",
        type=number,
        metavar="M",
        help="number of uniformly random dummy messages (the blanket) that a user sends on average",
    )
    segmented.add_argument(
        "--sampling-rate", type=number, metavar="RATE", help="probability of sending a held item, in (0, 1]"
    )
    single = parser.add_argument_group("one message per user: what is sent")
    single.add_argument(
        "--randomizer",
        nargs="+",
        metavar=("NAME:OPTION=VALUE,...", "NAME"),
        help="krr, blh, local-hash, rappor, oue, hadamard, subset-selection, subset-exponential, laplace, or general "
        "(any randomizer); also balls-into-bins and others with several messages. An unknown name prints the list of "
        "all. Options follow a colon, as in krr:domain-size=4; if one is missing, the error names it. Several "
        "randomizers need --compose",
    )
    single.add_argument(
        "--matrix",
        type=Path,
        metavar="FILE",
        help="your own randomizer: a line per input, a probability per output (CSV, TSV, spaces, fractions, .npy); "
        "--local-epsilon is then the local epsilon that is claimed for it",
    )
    single.add_argument(
        "--budgets",
        type=levels,
        metavar="EPSILON:USERS,...",
        help="users who add Laplace noise, each with a local epsilon of its own, e.g. 0.5:1000,2:500",
    )
    single.add_argument(
        "--local-epsilon", type=numbers, metavar="E0", help="epsilon of one message without a shuffler, in [1e-12, 50]"
    )
    single.add_argument(
        "--compose",
        choices=["joint", "parallel"],
        help="several randomizers in one message: joint: all of them, each on its own value; parallel: one, drawn at "
        "random",
    )
    single.add_argument(
        "--weights", type=numbers, help="with parallel: probability of each randomizer (default: equal)"
    )
    single.add_argument("--subsample", type=number, metavar="RATE", help="probability with which each user takes part")
    single.add_argument(
        "--blanket-messages",
        type=integers,
        metavar="N",
        help="number of dummy messages that all users send together; replaces --users if messages hide among dummies",
    )
    asked = parser.add_argument_group("one message per user: what is asked")
    asked.add_argument(
        "--delta", type=numbers, help="probability of failure, in [1e-280, 1), at which epsilons are computed"
    )
    asked.add_argument(
        "--accountant", metavar="NAMES", help="names of analyses, separated by commas; default: all that apply"
    )
    asked.add_argument("--csv", type=Path, metavar="FILE", help="also write the numbers as CSV")
    asked.add_argument("--plot", type=picture, metavar="FILE", help="draw a curve into FILE (.png, .pdf or .svg)")


def run(options: argparse.Namespace) -> str:
    """Answer for the segmented protocol, or for one message per user."""
    whats = [name for name in ("randomizer", "matrix", "budgets") if getattr(options, name) is not None]
    if len(whats) > 1:
        names = " and ".join("--" + name for name in whats)
        raise ParameterError(names, "given together", "one of them: each says what the users send")
    if options.domain_size is not None and options.randomizer is not None:
        told = f"{options.randomizer[0].partition(':')[0]}:domain-size={options.domain_size}"
        raise OptionsError(f"--domain-size is a part of the randomizer: write --randomizer {told}.")
    if not whats:
        leave_out(options, _SINGLE, "without --randomizer")
        need(options, "users", *_SEGMENTED, "epsilon")
        return _segmented(options)
    from segshuffle.cli.single_message import answer

    leave_out(options, _SEGMENTED, f"with --{whats[0]}")
    return answer(options)


def _segmented(options: argparse.Namespace) -> str:
    from segshuffle.accounting.collections.published import proven_lower_item_delta, published_item_delta

    for name in ("users", "epsilon"):
        if len(getattr(options, name)) > 1:
            raise ParameterError(name, getattr(options, name), "one value for the segmented protocol")
    parameters: dict[str, Any] = {
        "domain_size": options.domain_size,
        "n_users": options.users[0],
        "blanket_per_user": options.blanket_per_user,
        "sampling_rate": options.sampling_rate,
        "epsilon": options.epsilon[0],
    }
    published = published_item_delta(**parameters)
    kind = {"accountant": "published", "kind": "published"}
    answers = {
        "item_delta": {"lower": published.lower, "upper": published.upper, **kind},
        "proposition_1": {"lower": proven_lower_item_delta(**parameters).lower, "kind": "lower"},
    }
    return shown({**parameters, **answers}, as_json=options.json)
