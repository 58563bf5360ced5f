"""Compute how private given parameters are, by every analysis that applies.

What is analysed (--randomizer): one message per user, which a randomizer changes at random (several with --compose);
users with budgets of their own; a collection, such as items among dummies of a law, a saved plan, sums of flipped bits,
or a sample with a threshold; or the segmented protocol, in which a user sends some of the held items, and dummies.

What is asked: the epsilon at --delta; the delta at --epsilon; or, with both and no --local-epsilon, the local epsilon
that satisfies both. One of --users, --blanket-messages, --delta, --epsilon and --local-epsilon may have several values:
1,2,3, or 1e3..1e9/13 for 13 values from 1e3 to 1e9, evenly on a logarithmic scale. The answer is then a curve, which
--save writes to a table and a figure.

Each number says whether it is proven (exact, upper, lower) or only published or asymptotic; the last line says which
one is the guarantee. Neighbours differ in the value of one user (replace-one); n is public. Parameters must be
public: a local epsilon or a matrix that was chosen by looking at the data breaks the guarantee.

Examples: segshuffle account --randomizer krr:domain-size=10 --local-epsilon 4 --users 1e3..1e9 --delta 1e-9;
segshuffle account --randomizer matrix:mine.csv --users 1e4 --delta 1e-6; segshuffle account --randomizer
balls-into-bins:domain-size=100,special-bins=1 --blanket-messages 1e6 --delta 1e-6; segshuffle account --randomizer
general --users 1e6 --epsilon 0.1 --delta 1e-8; segshuffle account --randomizer
poisson:mean=100,copies=1,pairs=4 --epsilon 1 --delta 1e-6.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from segshuffle.cli.options import integers, number, numbers, output, picture, spec
from segshuffle.cli.terminal import as_json, leave_out, need, shown
from segshuffle.errors import ParameterError

#: Options that the segmented protocol does not have.
_SINGLE = ("local_epsilon", "delta", "accountant", "compose", "subsample", "blanket_messages", "rounds", "save")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    sent = parser.add_argument_group("what is sent")
    sent.add_argument(
        "--randomizer",
        nargs="+",
        required=True,
        metavar=("NAME:OPTION=VALUE,...", "NAME"),
        help="krr, blh, local-hash, rappor, oue, hadamard, subset-selection, subset-exponential, laplace, or general "
        "(any randomizer); also balls-into-bins and others with several messages. An unknown name prints the list of "
        "all. Options follow a colon, as in krr:domain-size=4; if one is missing, the error names it. Several "
        "randomizers need --compose. Other names:\n"
        "- matrix:FILE: your own randomizer: a line per input, a probability per output (CSV, TSV, spaces, fractions, "
        ".npy); --local-epsilon is then the local epsilon that is claimed for it\n"
        "- budgets:EPSILON:USERS,...: users who add Laplace noise, each with a local epsilon of its own, e.g. "
        "budgets:0.5:1000,2:500\n"
        "- segmented:domain-size=D,blanket-per-user=M,sampling-rate=RATE: the segmented protocol: number of items, "
        "number of uniformly random dummy messages (the blanket) that a user sends on average, and probability of "
        "sending a held item, in (0, 1]\n"
        "- poisson:mean=MEAN,copies=A,pairs=T, or another law of dummies with its parameters: dummies per item, of all "
        "users together, or of each of --users; copies of a held item; exchanged items, min(s, d - s)\n"
        "- plan:FILE[,level=LEVEL]: a saved plan, with its honest users or with --users\n"
        "- bit-sums:flip=Q[,set-size=S][,domain-size=D,most-ones=M]: flipped bits of which only sums are seen; reports "
        "with more than M ones are rejected\n"
        "- sample-threshold:rate=P,threshold=K[,tags=visible]: holders take part with probability P, and counts below "
        "K are not shown",
    )
    sent.add_argument(
        "--neighbours",
        choices=("replace-one", "replace-special", "add-or-remove-one"),
        metavar="RELATION",
        help="what the guarantee of a collection compares, in dp_accounting's words: another set (replace-one, the "
        "default), no items but all dummies (replace-special), or no messages at all (add-or-remove-one)",
    )
    sent.add_argument("--users", type=integers, help="number of users n, in [1, 1e15], e.g. 5000 or 1e6")
    sent.add_argument(
        "--local-epsilon", type=numbers, metavar="E0", help="epsilon of one message without a shuffler, in [1e-12, 50]"
    )
    sent.add_argument(
        "--compose",
        type=_composition,
        metavar="joint|parallel[:WEIGHTS]",
        help="several randomizers in one message: joint: all of them, each on its own value; parallel: one of "
        "them, drawn with the given probabilities (default: equal), as in parallel:0.25,0.75",
    )
    sent.add_argument("--subsample", type=number, metavar="RATE", help="probability with which each user takes part")
    sent.add_argument(
        "--rounds",
        type=integers,
        metavar="K",
        help="collections of the same users that the answer covers together, in [1, 10000] (default 1)",
    )
    sent.add_argument(
        "--blanket-messages",
        type=integers,
        metavar="N",
        help="number of dummy messages that all users send together; replaces --users for balls-into-bins and others "
        "that count dummies instead of users",
    )
    asked = parser.add_argument_group("what is asked")
    asked.add_argument("--epsilon", type=numbers, help="epsilon at which deltas are computed, in [0, 300]")
    asked.add_argument(
        "--delta", type=numbers, help="probability of failure, in [1e-280, 1), at which epsilons are computed"
    )
    asked.add_argument(
        "--accountant",
        metavar="NAMES",
        help="names of analyses, separated by commas (blanket: the blanket bound); default: all that apply",
    )
    asked.add_argument(
        "--save",
        nargs="+",
        default=[],
        type=_output,
        metavar="FILE",
        help="also write the numbers (.csv), or draw their curve (.png, .pdf or .svg)",
    )
    asked.add_argument("--json", action="store_true", help="print JSON")


def _composition(text: str) -> tuple[str, tuple[float, ...] | None]:
    kind, colon, weights = text.partition(":")
    return kind, numbers(weights) if colon else None


def _output(text: str) -> Path:
    return output(text) if text.endswith(".csv") else picture(text)


def run(options: Namespace) -> str:
    """Answer for the segmented protocol, or for any other randomizer."""
    name = options.randomizer[0].partition(":")[0]
    if name == "segmented":
        leave_out(options, ["neighbours"], "with segmented")
        return _segmented(options)
    from segshuffle.blankets.named import laws

    if name in ("plan", "bit-sums", "sample-threshold", *laws()):
        from segshuffle.cli.account_collection import answer as of_collection

        return of_collection(options)
    from segshuffle.cli.single_message import answer

    leave_out(options, ["neighbours"], f"with {name}: one value is replaced by another")
    return answer(options)


def _segmented(options: Namespace) -> str:
    from segshuffle.accounting.collections.published import proven_lower_item_delta, published_item_delta

    leave_out(options, _SINGLE, "with segmented")
    need(options, "users", "epsilon")
    for name in ("users", "epsilon"):
        if len(getattr(options, name)) > 1:
            raise ParameterError(name, getattr(options, name), "one value for the segmented protocol")
    text, *others = options.randomizer
    _, own = spec(text)
    if own.keys() != {"domain_size", "blanket_per_user", "sampling_rate"} or others:
        raise ParameterError("randomizer", text, "alone, with domain-size, blanket-per-user and sampling-rate")
    parameters = {**own, "n_users": options.users[0], "epsilon": options.epsilon[0]}
    published = published_item_delta(**parameters)
    kind = {"accountant": "published", "kind": "published"}
    answers = {
        "item_delta": {"lower": published.lower, "upper": published.upper, **kind},
        "proposition_1": {"lower": proven_lower_item_delta(**parameters).lower, "kind": "lower"},
    }
    if options.json:
        return as_json({**parameters, **answers})
    return shown({**parameters, **answers}) + "\n\nguarantee: none, because no number is a proven upper bound"
