"""Say how private given parameters are.

Without --randomizer: the probability delta with which the segmented protocol fails to hide one item of a user at the
given epsilon.

With --randomizer: every accountant (privacy analysis) that applies where each user sends one message, changed at
random by the randomizer: the epsilon that shuffling gives at --delta, or the delta at --epsilon. Each number says
whether it is proven (exact, upper, lower) or only published or asymptotic.
"""

from __future__ import annotations

import argparse
from typing import Any

from segshuffle.cli.terminal import integer, number, shown
from segshuffle.errors import ParameterError

_SEGMENTED = ("domain_size", "blanket_per_user", "sampling_rate", "epsilon")
_SINGLE = ("local_epsilon", "delta", "set_size", "subset_size", "order")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--users", type=integer, required=True, help="number of users n (>= 1), e.g. 5000 or 1e6")
    parser.add_argument("--epsilon", type=number, help="privacy loss at which deltas are asked for, in [0, 300]")
    parser.add_argument(
        "--domain-size", type=integer, metavar="D", help="number of items d, or of options of the randomizer"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    segmented = parser.add_argument_group("segmented protocol")
    segmented.add_argument(
        "--blanket-per-user",
        type=number,
        metavar="M",
        help="the blanket: uniformly random dummy messages that a user sends on average to hide everybody's own",
    )
    segmented.add_argument(
        "--sampling-rate", type=number, metavar="RATE", help="probability of sending a held item, in (0, 1]"
    )
    single = parser.add_argument_group("one message per user")
    single.add_argument("--randomizer", help="krr, blh, rappor, oue, hadamard, subset-selection, ... or general")
    single.add_argument(
        "--local-epsilon", type=number, metavar="E0", help="its guarantee without a shuffler, in [1e-12, 50]"
    )
    single.add_argument("--delta", type=number, help="probability of failure in (0, 1) at which to give epsilons")
    single.add_argument("--set-size", type=integer, metavar="S", help="items per user, for subset-exponential")
    single.add_argument("--subset-size", type=integer, metavar="SIZE", help="size of the reported subset")
    single.add_argument("--order", type=integer, help="outputs of Hadamard response, a power of 2")
    parser.set_defaults(run=run, refuse=parser.error)


def run(options: argparse.Namespace) -> str:
    """Answer for the segmented protocol, or for one message per user."""
    single = options.randomizer is not None
    for name in ("blanket_per_user", "sampling_rate") if single else _SINGLE:
        if getattr(options, name) is not None:
            rule = f"left out {'with' if single else 'without'} --randomizer"
            raise ParameterError(name.replace("_", "-"), getattr(options, name), rule)
    needed = ("local_epsilon",) if single else _SEGMENTED
    missing = ["--" + name.replace("_", "-") for name in needed if getattr(options, name) is None]
    if missing:
        options.refuse(f"the following arguments are required: {', '.join(missing)}")
    return (_single if single else _segmented)(options)


def _single(options: argparse.Namespace) -> str:
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
        return shown({**head, "accountants": rows, "not_applicable": left_out}, as_json=True)
    width = max(map(len, [e.accountant for e in entries] + list(left_out)), default=0)
    lines = [shown(head, as_json=False), ""]
    lines += [f"{e.accountant:<{width}}  {asked} {e.value:<12.6g} {e.kind:<10}  {e.status}" for e in entries]
    lines += [f"{name:<{width}}  not applicable: {reason}" for name, reason in left_out.items()]
    return "\n".join(lines)


def _segmented(options: argparse.Namespace) -> str:
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
    return shown(
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
