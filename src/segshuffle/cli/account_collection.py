"""`segshuffle account` for collections: laws of dummies, plans, sums of bits, and samples with a threshold."""

import math
from argparse import Namespace
from collections.abc import Callable
from typing import Any, NamedTuple

from segshuffle.accounting.collections.composition import composed_delta, composed_epsilon
from segshuffle.accounting.collections.neighbours import NEIGHBOURS, absent, taken_away
from segshuffle.accounting.collections.product import EPSILON_LIMIT, closest_interval
from segshuffle.accounting.collections.sample_threshold import SampleThreshold
from segshuffle.accounting.single_message.bit_sums import BitSums, rejection
from segshuffle.blankets.named import law_from, laws
from segshuffle.cli.options import spec
from segshuffle.cli.terminal import as_json, leave_out, shown
from segshuffle.collection.planning.documents import read_plan
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.errors import OptionsError, ParameterError
from segshuffle.numerics.intervals import SMALLEST_DELTA, DeltaInterval
from segshuffle.numerics.ranges import check_choice, check_integer, check_within
from segshuffle.numerics.search import Bound, edge_epsilon
from segshuffle.plans.privacy_loss import product_of
from segshuffle.plans.targets import cap_of

_DIGITS = 6
#: Relative width in delta, of a lower end of epsilon.
_WIDTH = 1e-4


class Ends(NamedTuple):
    """Both ends of an answer; the lower one is None where it is not known."""

    lower: float | None
    upper: float


class Known(NamedTuple):
    """A collection: its parameters, and functions that enclose delta and epsilon."""

    told: dict[str, Any]
    delta: Callable[[float], Ends]
    epsilon: Callable[[float], Ends]
    exact: bool = False
    """Whether the bound is attained, so that both ends enclose one number."""
    worst: Callable[[float], str] | None = None
    """What is said of the worst case at an epsilon."""


def answer(options: Namespace) -> str:
    """Answer for one collection, or for several of the same users with --rounds."""
    text, *others = options.randomizer
    name = text.partition(":")[0]
    unused = ("local_epsilon", "accountant", "compose", "subsample", "blanket_messages", "save")
    leave_out(options, unused, f"with {name}")
    if others:
        raise ParameterError("randomizer", " ".join(options.randomizer), f"{name} alone")
    if not (options.epsilon or options.delta):
        raise OptionsError("Give --epsilon, --delta, or both.")
    rounds = _one(options, "rounds")
    asked = {
        "rounds": 1 if rounds is None else rounds,
        "n_users": _one(options, "users"),
        "neighbours": options.neighbours or "replace-one",
    }
    check_integer("rounds", asked["rounds"], 1, most=10_000)
    makers = {"plan": _plan, "bit-sums": _bits, "sample-threshold": _sample}
    known = makers.get(name, _law)(text, **asked)
    answers: dict[str, Any] = {}
    for measure, values, ask in (("delta", options.epsilon, known.delta), ("epsilon", options.delta, known.epsilon)):
        given = "epsilon" if measure == "delta" else "delta"
        for value in values or ():
            answers[f"{measure} at {given} {value:g}"] = _said(ask(value), known.exact)
            if measure == "delta" and known.worst:
                answers[f"worst group at {given} {value:g}"] = known.worst(value)
    whole = {**known.told, **{key: each for key, each in asked.items() if each is not None}, **answers}
    if options.json:
        return as_json(whole)
    return f"{shown(whole)}\n\nneighbours: {asked['neighbours']} ({NEIGHBOURS[asked['neighbours']]})"


def _one(options: Namespace, name: str) -> Any:
    """Return the only value of an option."""
    values = getattr(options, name) or (None,)
    if len(values) > 1:
        raise ParameterError(name, values, "one value for a collection")
    return values[0]


def _said(ends: Ends, exact: bool) -> dict[str, Any]:
    """Round an answer to the safe side, and say what kind of number it is."""
    if ends.upper == math.inf:
        return {"upper": None, "kind": "no epsilon is known"}
    upper = rounded_up(ends.upper, _DIGITS)
    if ends.lower is None:
        return {"upper": upper, "kind": "upper"}
    return {"lower": rounded_down(ends.lower, _DIGITS), "upper": upper, "kind": "exact" if exact else "enclosed"}


def _of_bound(told: dict[str, Any], bound: Bound, *, lower: bool = True, **more: Any) -> Known:
    """Ask a bound; its lower end is left out if it is only 0."""

    def delta(epsilon: float) -> Ends:
        interval = bound.delta(epsilon=epsilon)
        return Ends(interval.lower if lower else None, interval.upper)

    def epsilon(target: float) -> Ends:
        low = edge_epsilon(bound.lower, ceiling=bound.ceiling, delta=target, rtol=bound.rtol, lower=True)
        return Ends(low if lower else None, bound.epsilon(delta=target))

    return Known(told, delta, epsilon, **more)


def _given(text: str, needed: tuple[str, ...], allowed: tuple[str, ...] = ()) -> dict[str, Any]:
    """Read the numbers of a collection; refuse missing and unknown ones."""
    name, own = spec(text)
    if not set(needed) <= own.keys() <= {*needed, *allowed}:
        lists = [", ".join(each.replace("_", "-") for each in names) for names in (needed, allowed)]
        may = f", and may have {lists[1]}" if allowed else ""
        raise ParameterError("randomizer", text, f"{name} with {lists[0]}{may}")
    return own


def _law(text: str, *, rounds: int, n_users: int | None, neighbours: str) -> Known:
    """Make a collection of counters with dummies of a law."""
    name = text.partition(":")[0]
    names = tuple(laws()[name].parameters())
    own = _given(text, (*names, "mean", "copies", "pairs"), ("domain_size",))
    law = law_from({"name": name, **{each: own[each] for each in names}})
    check_integer("pairs", own["pairs"], 1)
    pair = law.pair(float(own["mean"]) * (n_users or 1), float(own["copies"]))
    items = own["pairs"] * rounds
    if neighbours == "replace-special":
        return _of_bound(own, taken_away(pair, items=items), lower=False)
    if neighbours == "add-or-remove-one":
        if n_users is None or "domain_size" not in own:
            raise ParameterError("neighbours", neighbours, "given with --users, and domain-size in --randomizer")
        size = own["domain_size"]
        bound = absent(pair, items=own["pairs"], n_users=n_users, domain_size=size, rounds=rounds)
        return _of_bound(own, bound, lower=False)

    def measure(epsilon: float, width: float) -> DeltaInterval:
        return closest_interval(pair, pairs=items, epsilon=epsilon, rtol=width, smallest=SMALLEST_DELTA, expected=None)[
            0
        ]

    def delta(epsilon: float) -> Ends:
        return Ends(*measure(epsilon, 1e-5))

    def epsilon(target: float) -> Ends:
        low = edge_epsilon(
            lambda at, _: measure(at, _WIDTH).lower, ceiling=EPSILON_LIMIT, delta=target, rtol=_WIDTH, lower=True
        )
        return Ends(low, composed_epsilon([(pair, items)], delta=target))

    # otherwise equality is not proven (docs/proof.md)
    attained = float(own["copies"]).is_integer() or own.get("domain_size", 0) >= 3 * own["pairs"]
    return Known(own, delta, epsilon, exact=attained)


def _plan(text: str, *, rounds: int, n_users: int | None, neighbours: str) -> Known:
    """Read a saved plan, for its own rounds times --rounds, and its own honest users or those of --users."""
    path, _, level_text = text.partition(":")[2].partition(",level=")
    plan = read_plan(path).plan
    problem = plan.problem
    if len(problem.levels) > 1 and not level_text:
        raise ParameterError("randomizer", text, f"plan:FILE,level=LEVEL, one of {', '.join(map(str, problem.levels))}")
    level = float(level_text) if level_text else problem.levels[0]
    pair, pairs = product_of(plan, level=level)
    honest, cap = n_users or problem.honest_users, cap_of(plan.scheme, problem)
    pair = plan.scheme.law.pair(honest * plan.blanket_per_user / problem.domain_size, pair.copies)
    claimed = {"epsilon": level, "delta": problem.deltas[problem.levels.index(level)]}
    told = {"plan": path, "level": level, "honest users": honest, "pairs": pairs, "promised": claimed}
    if neighbours == "replace-special" and cap is None:
        items = problem.set_size * problem.assumptions.rounds * rounds
        return _of_bound(told, taken_away(pair, items=items), lower=False)
    if neighbours != "replace-one":
        raise ParameterError("neighbours", neighbours, "replace-one for a plan, or replace-special without a cap")
    collections = [(pair, pairs)] * rounds
    caps = [{**cap, "honest_users": honest}] * rounds if cap else []

    def delta(epsilon: float) -> Ends:
        return Ends(None, composed_delta(collections, epsilon=epsilon, caps=caps))

    def epsilon(target: float) -> Ends:
        return Ends(None, composed_epsilon(collections, delta=target, caps=caps))

    return Known(told, delta, epsilon)


def _bits(text: str, *, rounds: int, n_users: int | None, neighbours: str) -> Known:
    """Make sums of flipped bits."""
    own = _given(text, ("flip",), ("set_size", "domain_size", "most_ones"))
    check_within("flip", own["flip"], 0, 0.5, "()")
    check_choice("neighbours", neighbours, ("replace-one", "replace-special"))
    if n_users is None:
        raise ParameterError("users", None, "given: how many users send honest bits")
    if ("domain_size" in own) != ("most_ones" in own):
        raise ParameterError(
            "randomizer", text, "both domain-size and most-ones, or neither: reports with more ones are rejected"
        )
    local, size = math.log1p(-own["flip"]) - math.log(own["flip"]), own.get("set_size", 1)
    rejected = 0.0
    if "most_ones" in own:
        sizes = {"set_size": size, "domain_size": own["domain_size"], "most_ones": own["most_ones"]}
        rejected = rejection(local_epsilon=local, **sizes)
    bound = BitSums(
        n_users=n_users,
        local_epsilon=local,
        set_size=size,
        exchanged=neighbours == "replace-one",
        rounds=rounds,
        rejected=rejected,
    )
    told = {**own, "local epsilon of a bit": local} | ({"rejected": rejected} if rejected else {})
    return _of_bound(told, bound)


def _sample(text: str, *, rounds: int, n_users: int | None, neighbours: str) -> Known:
    """Make a sample with a threshold; its guarantee does not depend on the number of users."""
    if rounds > 1 or n_users is not None:
        raise ParameterError("rounds, users", (rounds, n_users), "left out with sample-threshold")
    tags = "visible" if text.endswith(",tags=visible") else "hidden"
    own = _given(text.removesuffix(f",tags={tags}"), ("rate", "threshold"))
    bound = SampleThreshold(**own, neighbours=neighbours, tags=tags)

    def worst(epsilon: float) -> str:
        return f"{bound.worst(epsilon).others} others hold the item"

    of_group = None if bound.visible else worst
    seen = "tags of hidden reports visible" if bound.visible else "tags of hidden reports not visible"
    return _of_bound({**own, "view": seen}, bound, exact=not (bound.visible or bound.replaced), worst=of_group)
