"""Compare every accountant's number with a proven lower bound for the same mechanism, n, epsilon and delta.

A lower bound is the divergence of two neighbouring datasets, rounded down. If users have unequal budgets, the victim
holds 0 or 1 and has the largest budget; every other user holds 0 and has the smaller one. Reports are rounded to cells,
which is post-processing. A claim is refuted if the upper end of its interval is below the lower end of the proven bound
by a relative difference of more than `MARGIN`. A claim (epsilon, delta) is also tested at its own epsilon, where the
proven delta must not exceed delta.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Accountant, Mechanism
from segshuffle.accounting.single_message.accountants.personalized import PERSONAL, PersonalizedUsers
from segshuffle.accounting.single_message.decomposition import DatasetsBound
from segshuffle.accounting.single_message.mechanisms import mechanism, with_classes
from segshuffle.accounting.single_message.randomizers.reference import Items, ReferenceClasses, Side, Tables
from segshuffle.arrays import FloatArray
from segshuffle.digits import rounded, rounded_up
from segshuffle.errors import ParameterError
from segshuffle.reproduction.design import Config, least_delta
from segshuffle.reproduction.studies.referee.enumeration import worst_datasets

#: Relative distance by which a claim must lie below a proven lower bound to be called violated.
MARGIN = 1e-9
#: Claims below this multiple of the proven epsilon are also tested at their own epsilon.
_NEAR = 1.02
_TRIVIAL = 1e-12
#: Most users whose datasets are enumerated.
LARGEST_USERS = 3

#: Columns of results/referee.csv, in order.
COLUMNS = (
    *("case", "local_epsilon", "n_users", "asked", "target", "accountant", "kind", "claimed", "proven", "ratio"),
    *("delta_ratio", "outcome", "vacuous", "by_equal_others", "datasets", "command"),
)

# --- what is tried ---------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    """One question: delta at `target` = epsilon, or epsilon at `target` = delta."""

    n_users: int
    asked: Literal["delta", "epsilon"]
    target: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A mechanism family of the referee.

    Parameters
    ----------
    label : str
        Name in figures.
    name : str
        Name of the mechanism for `mechanisms.mechanism` and the command line.
    parameters : mapping
        What it needs beside the local epsilon.
    inputs : sequence of tuple of int
        What users hold in the enumerated datasets; none if the outputs cannot be listed. Four items of a large domain
        are enough, because a message has only noise about all other items.
    victims : tuple of (int, int)
        Changes of the victim's input, places in `inputs`.
    cut : mapping
        Parameters of the randomizer that replace its defaults, though not in `command`.
    """

    label: str
    name: str
    parameters: Mapping[str, int] = field(default_factory=dict)
    # three users and the victim's second input never need more than four inputs
    inputs: Sequence[Items] = ((0,), (1,), (2,), (3,))
    victims: tuple[tuple[int, int], ...] = ((0, 1),)
    cut: Mapping[str, int] = field(default_factory=dict)

    def mechanism(self, local_epsilon: float) -> Mechanism:
        """Return the mechanism at one local epsilon."""
        return with_classes(mechanism(self.name, local_epsilon=local_epsilon, **self.parameters), **self.cut)

    @cache  # noqa: B019  cases live as long as the program
    def matrix(self, local_epsilon: float) -> FloatArray:
        """Return the law of the message for each of `inputs`, one per row."""
        randomizer: Any = self.mechanism(local_epsilon).randomizer
        return np.asarray(randomizer.laws(self.inputs))

    def command(self, local_epsilon: float, point: Point) -> str:
        """Write the command that prints every accountant's number at one point, the proven lower bound among them."""
        sizes = ",".join(f"{name.replace('_', '-')}={value}" for name, value in self.parameters.items())
        given = "epsilon" if point.asked == "delta" else "delta"
        return (
            f"segshuffle account --randomizer {self.name}{':' * bool(sizes)}{sizes} --local-epsilon {local_epsilon!r} "
            f"--users {point.n_users} --{given} {point.target!r} --json"
        )


#: Pairs of items of the subset exponential mechanism: four disjoint ones, and one that shares an item with two of them.
_PAIRS = ((0, 1), (2, 3), (4, 5), (6, 7), (0, 2))
#: Everything that can be tried, by the name used in the configuration, in the order of the tables.
CASES: dict[str, Case] = {
    **{
        f"krr-{size}": Case(
            label=f"{size}-ary RR", name="krr", parameters={"domain_size": size}, inputs=Case.inputs[:size]
        )
        for size in (2, 3, 4, 10, 100)
    },
    "blh": Case(label="binary local hash", name="blh"),
    "rappor": Case(label="RAPPOR", name="rappor"),
    "oue": Case(label="unary encoding", name="oue"),
    # one pair of rows of the matrix is as good as any other
    "hadamard-16": Case(
        label="Hadamard, 16", name="hadamard", parameters={"order": 16}, inputs=[(row,) for row in range(15)]
    ),
    "subset-selection-16-4": Case(
        label="4-subsets of 16", name="subset-selection", parameters={"domain_size": 16, "subset_size": 4}
    ),
    "subset-exponential-16-2-3": Case(
        label="PrivSet",
        name="subset-exponential",
        parameters={"domain_size": 16, "set_size": 2, "subset_size": 3},
        inputs=_PAIRS,
        victims=((0, 1), (0, 4)),
    ),
    # cells coarser than the default, so all proven numbers are looser
    "laplace": Case(label="Laplace", name="laplace", inputs=(), cut={"cells": 20}),
}


_LOG3 = math.log(3)
#: Counterexamples found by hand, which are tried beside the grid: (local epsilon, number of users, epsilon).
BY_HAND: dict[str, tuple[tuple[float, int, float], ...]] = {
    "krr-4": ((_LOG3, 2, math.log(5 / 2)), (_LOG3, 5, math.log(8 / 5))),
    "krr-10": ((_LOG3, 10, math.log(3 / 2)), (_LOG3, 30, math.log(13 / 10))),
}


def questions(name: str, config: Config) -> Iterator[tuple[float, Point]]:
    """Yield all points of a case with their local epsilon: those of the configuration's grid, and those `BY_HAND`.

    The grid has deltas at shares of the local epsilon for few users, and epsilons at delta = delta_times_n/n for many.
    """
    grid = config["referee"]
    for local in grid["local_epsilons"]:
        for n_users, share in product(grid["few_users"], grid["shares"]):
            yield local, Point(n_users, "delta", rounded(share * local))
        for n_users in grid["many_users"]:
            yield local, Point(n_users, "epsilon", rounded(least_delta(config, n_users)))
    for local, n_users, target in BY_HAND.get(name, ()):
        yield local, Point(n_users, "delta", target)


# --- proven lower bounds ---------------------------------------------------------------------------------------------


class Proof(NamedTuple):
    """A lower bound at one point, with its datasets; `common` is the bound from datasets with equal other users."""

    proven: float
    common: float
    datasets: str


def proof_of(case: Case, known: Mechanism, point: Point) -> Proof:
    """Find the largest proven lower bound at a point.

    All other users hold the same input (`DatasetsBound`); for up to three users, where the outputs can be listed,
    every dataset is enumerated as well and the larger bound counts.
    """
    common = common_bound(known.randomizer, point)
    if case.inputs and point.asked == "delta" and point.n_users <= LARGEST_USERS:
        matrix = case.matrix(known.local_epsilon)
        worst = worst_datasets(matrix=matrix, victims=case.victims, n_users=point.n_users, epsilon=point.target)
        if worst.delta > common:
            return Proof(
                worst.delta, common, f"victim {worst.victim[0]} or {worst.victim[1]}, others {list(worst.others)}"
            )
    return Proof(common, common, "all others alike")


def common_bound(randomizer: Any, point: Point, **options: Any) -> float:
    """Return a proven lower bound of what a point asks for, all other users alike; `options` of `DatasetsBound`."""
    bound = DatasetsBound(randomizer=randomizer, n_users=point.n_users, **options)
    return bound.lower(point.target, bound.rtol) if point.asked == "delta" else bound.epsilon(delta=point.target)


# --- claims and verdicts ---------------------------------------------------------------------------------------------

#: What is known of a trial before it is judged.
_TRIED = [
    "case",
    "local_epsilon",
    *Point._fields,
    *Proof._fields,
    "accountant",
    "kind",
    "claimed",
    "at_claim",
    "command",
]


def claim(accountant: Accountant, known: Mechanism, point: Point) -> float:
    """Return what an accountant states at a point (the upper end of its interval), nan outside its own conditions.

    A formula for epsilon alone has no delta: nan, too.
    """
    try:
        if point.asked == "epsilon":
            return accountant.epsilon_of(known, point.n_users, point.target)
        return accountant.delta_of(known, point.n_users, point.target)
    except ParameterError:
        return math.nan


def upper_bounds(known: Mechanism) -> list[Accountant]:
    """List the accountants on trial that apply to a mechanism."""
    return [each for each in ACCOUNTANTS.values() if each.kind != "lower" and each.applies(known)]


@cache
def generic_claims(local_epsilon: float, point: Point) -> dict[str, float]:
    """Return the claims of the accountants that know a local epsilon alone: the same for every mechanism."""
    bare = Mechanism(name="any", local_epsilon=local_epsilon)
    return {each.name: rounded_up(claim(each, bare, point)) for each in upper_bounds(bare)}


def trials(config: Config) -> pd.DataFrame:
    """Compare every accountant that applies to a mechanism with the proven lower bounds, case by case.

    Parameters
    ----------
    config : mapping
        Section ``referee`` and ``delta_times_n`` are used.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per point and accountant. ``claimed`` and ``proven`` are deltas at epsilon = ``target`` or
        epsilons at delta = ``target``, as ``asked`` says; ``ratio`` = proven/claimed, so above 1 is a violation;
        ``delta_ratio`` is the same for deltas at the claimed epsilon (nan if not computed: the claim is well above the
        proven epsilon). ``by_equal_others``: the violation shows if all other users hold the same input, as in the
        output of ``command``. Claims outside their own conditions have the outcome "not applicable".
    """
    rows: list[tuple[Any, ...]] = []
    for name in config["referee"]["cases"]:
        rows += _budget_rows(config) if name == BUDGETS else _case_rows(config, name)
    return judged(pd.DataFrame(rows, columns=_TRIED))[list(COLUMNS)]


def _case_rows(config: Config, name: str) -> Iterator[tuple[Any, ...]]:
    case = CASES[name]
    for local, point in questions(name, config):
        known = case.mechanism(local)
        proof, generic = proof_of(case, known, point), generic_claims(local, point)
        claims = generic | {
            each.name: claim(each, known, point) for each in upper_bounds(known) if each.name not in generic
        }
        for accountant, claimed in claims.items():
            near = point.asked == "epsilon" and claimed < _NEAR * proof.proven
            at_claim = common_bound(known.randomizer, Point(point.n_users, "delta", claimed)) if near else math.nan
            kind, command = ACCOUNTANTS[accountant].kind_for(known), case.command(local, point)
            yield name, local, *point, *proof, accountant, kind, claimed, at_claim, command


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Compare claims with proven lower bounds.

    Parameters
    ----------
    rows : DataFrame
        Columns local_epsilon (a claim that is no better is vacuous), n_users, asked, target, claimed, proven,
        common (lower bound by equal others alone), and at_claim: where an epsilon is claimed, the proven lower bound
        of delta there, nan if it was not computed.

    Returns
    -------
    DataFrame
        With the columns ratio, delta_ratio, outcome, vacuous and by_equal_others, see `trials`.
    """
    claimed, of_epsilon = rows["claimed"], rows["asked"] == "epsilon"
    # 0/0 is no violation
    ratio, common = (
        (rows[name] / claimed).mask((rows[name] == 0) & (claimed == 0), 0.0) for name in ("proven", "common")
    )
    delta_ratio = ratio.mask(of_epsilon, rows["at_claim"] / rows["target"])
    local = most_that_local_privacy_leaves(rows["local_epsilon"], rows["target"])
    violated = (ratio > 1 + MARGIN) | (delta_ratio > 1 + MARGIN)
    return rows.assign(
        ratio=ratio,
        delta_ratio=delta_ratio,
        outcome=np.select([claimed.isna(), violated], ["not applicable", "violated"], "holds"),
        vacuous=claimed >= rows["local_epsilon"].where(of_epsilon, local) * (1 - _TRIVIAL),
        by_equal_others=common > 1 + MARGIN,
    )


def most_that_local_privacy_leaves(local_epsilon: Any, epsilon: Any) -> Any:
    """Return the largest delta at `epsilon` of any pure local_epsilon-DP randomizer: binary randomized response's."""
    return np.maximum(-np.expm1(epsilon - local_epsilon) / (1.0 + np.exp(-local_epsilon)), 0.0)


# --- users with unequal budgets --------------------------------------------------------------------------------------

#: Name of the case.
BUDGETS = "laplace-budgets"
#: Name in figures of every case.
LABELS = {BUDGETS: "Laplace, others'\nbudgets a tenth", **{name: case.label for name, case in CASES.items()}}
#: Everybody else's budget as a share of the victim's.
SHARE = 0.1
#: Largest number of users: the law of the clones has one entry per user.
MOST_USERS = 100_000
#: Accountants of users with budgets of their own.
CLAIMS = ("personalized", "personalized-reduction", "liu-2023", "chen-cao-ge")
#: Cells on [0, 1], and how far out the law of the reports is cut into cells.
_CELLS, _TAIL = 32, 30.0


@dataclass(frozen=True, kw_only=True)
class TwoBudgets:
    """The victim's reports from 0 and from 1 against the report of every other user, in cells.

    Parameters
    ----------
    local_epsilon, other : float
        Budgets of the victim and of all others; local_epsilon >= other > 0.
    """

    local_epsilon: float
    other: float

    def blankets(self, side: Side) -> Tables:
        """Return none: the other users apply another randomizer."""
        return ()

    def common_input(self, side: Side) -> Tables:
        """Return classes against the law of the other users, who all hold 0."""
        edges = _edges(self.local_epsilon - self.other)
        first, second = (_cell_masses(self.local_epsilon, centre, edges) for centre in (0.0, 1.0))
        own = _cell_masses(self.other, 0.0, edges)
        return (ReferenceClasses(own, np.log(first / own), np.log(second / own)),)


def trial(*, victim: float, other: float, n_users: int, delta: float) -> dict[str, float]:
    """Return claimed epsilons, the proven one, and the proven delta at each claim's epsilon.

    Parameters
    ----------
    victim, other : float
        Budgets of the victim and of the n_users - 1 others.
    n_users : int
        At least 2.
    delta : float
        In (0, 1).
    """
    users = PersonalizedUsers(local_epsilons=[victim] + [other] * (n_users - 1))
    two = TwoBudgets(local_epsilon=victim, other=other)
    numbers = {"proven": common_bound(two, Point(n_users, "epsilon", delta), rtol=1e-3)}
    for name in CLAIMS:
        claimed = numbers[name] = min(PERSONAL[name](users).epsilon(delta=delta), victim)
        numbers[f"{name}: proven delta"] = common_bound(two, Point(n_users, "delta", claimed))
    return numbers


def _budget_rows(config: Config) -> Iterator[tuple[Any, ...]]:
    """Tabulate trials in which the others' budgets are a tenth of the victim's, which is ``local_epsilon``."""
    for victim in config["referee"]["local_epsilons"]:
        other = SHARE * victim
        datasets = f"victim 0 or 1 with budget {victim:g}, others 0 with budget {other:g}"
        for n_users in (n for n in config["referee"]["many_users"] if n <= MOST_USERS):
            point = Point(n_users, "epsilon", least_delta(config, n_users))
            asked = {"victim": victim, "other": other, "n_users": n_users, "delta": point.target}
            numbers = trial(**asked)
            call = f"trial({', '.join(f'{name}={value!r}' for name, value in asked.items())})"
            command = f'python -c "from segshuffle.reproduction.studies.referee.compute import trial; print({call})"'
            proof = Proof(numbers["proven"], numbers["proven"], datasets)
            for name in CLAIMS:
                kind, claimed, at_claim = ACCOUNTANTS[name].kind, numbers[name], numbers[f"{name}: proven delta"]
                yield BUDGETS, victim, *point, *proof, name, kind, claimed, at_claim, command


def _edges(gap: float) -> FloatArray:
    """Cut [0, 1] into cells, and the rest of the line, too, if the budgets differ; cell widths are (nearly) exact."""
    inside = np.linspace(0.0, 1.0, _CELLS + 1)
    if gap <= 0:
        return inside
    outside = 2.0 ** np.arange(-6, math.ceil(math.log2(_TAIL / gap)) + 0.25, 0.25)
    return np.unique(np.concatenate([-outside, inside, 1 + outside]))


def _cell_masses(budget: float, centre: float, edges: FloatArray) -> FloatArray:
    """Return the probabilities of the cells between `edges`; `centre` is an edge. No close numbers are subtracted."""
    left, right = edges[:-1], edges[1:]
    near = np.where(left >= centre, left - centre, centre - right)
    inner = 0.5 * np.exp(-budget * near) * -np.expm1(-budget * (right - left))
    ends = 0.5 * np.exp(-budget * np.abs(edges[[0, -1]] - centre))
    return np.concatenate([ends[:1], inner, ends[1:]])
