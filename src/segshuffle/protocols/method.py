"""What a method is: how it is declared, what it answers, and what methods of one kind share.

Users who do not follow the protocol shift an estimate by their influence: the most that one of them moves it, expected,
compared with what it would send as agreed. Estimates are linear in what arrives, so b liars move them b times as much.
Formulas: docs/proof.md for messages that name an item. Competitors with reports of other kinds have their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.errors import ParameterError
from segshuffle.looks import Look
from segshuffle.protocols.base import Plan, Problem, Sample


class Method(Protocol):
    """One protocol: a plan from public quantities, an exact simulation, a closed-form error."""

    @property
    def name(self) -> str:
        """Identifier in tables and file names."""
        ...

    def plan(self, problem: Problem) -> Plan:
        """Fix every parameter."""
        ...

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Estimated frequencies, shape (repetitions, domain_size), exact in distribution."""
        ...

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Return the expected squared error against the sample, over random levels and the protocol's coins."""
        ...

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float | None:
        """Variance of the sum of all estimates where every user holds s items; None where no closed form is known."""
        ...


class ErrorAsPlanned:
    """Closed form of a protocol in whose error neither items nor levels count."""

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Return the error that was planned."""
        return plan.mse_bound


class IndependentCounters(ErrorAsPlanned):
    """Closed forms of such a protocol whose counters are independent."""

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """Return the same: variances of counters add up."""
        return plan.mse_bound


def variance_sources(plan: Plan) -> tuple[float, float, float]:
    """Return what the variance of an estimated share w comes from, noise + own w + spread w (1 - w).

    The dummies', the users' own sampling, and the imbalance between levels and items, levels at random with exact
    counts: the users of a level who hold an item are a draw without replacement.
    """
    counts = np.array(plan.problem.level_counts, dtype=float)
    n_users, noise, own, per_user = counts.sum(), 0.0, 0.0, np.zeros(counts.size)
    for each in plan.collections:
        scheme, users, factor = each.announcement, each.users(counts), each.factor(counts)
        noise += factor**2 * scheme.noise
        own += factor**2 * float(users @ scheme.sampling)
        per_user += factor * np.array(scheme.copies) * (users > 0)
    uneven = float(counts @ (per_user - counts @ per_user / n_users) ** 2)
    return noise, own, uneven * n_users / max(n_users - 1, 1)


class Collected:
    """A protocol of `Plan.collections`: the server adds the collections' estimates up, each in its weight."""

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Estimates from counters: copies of every held item, and the dummies of all users."""
        estimate, counts = np.zeros((sample.repetitions, sample.domain_size)), plan.problem.level_counts
        for each in plan.collections:
            users = each.users(counts)
            counted = each.announcement.count(sample.level_item_counts * (users > 0)[:, None], rng)
            estimate += each.weight * each.announcement.estimate(counted, users)
        return estimate

    def expected_mse(self, plan: Plan, item_counts: IntArray | FloatArray) -> float:
        """Return the closed form of `simulate`'s mean squared error."""
        problem, (noise, own, spread) = plan.problem, variance_sources(plan)
        shares = np.asarray(item_counts) / problem.n_users
        held = problem.set_size if problem.assumptions.sets == "exactly" else shares.sum()
        return float(problem.domain_size * noise + held * own + spread * (shares @ (1 - shares)))

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """Variance of the sum of all estimates: levels sum to nothing, and some dummies have a fixed number."""
        counts, (_, own, _) = plan.problem.level_counts, variance_sources(plan)
        noise = sum(each.factor(counts) ** 2 * each.announcement.total_noise for each in plan.collections)
        return noise + plan.problem.set_size * own


@dataclass(frozen=True)
class Influence:
    """Largest shift of the expected estimates by one user.

    Parameters
    ----------
    most_messages : float
        Messages that the shuffler takes from one sender; +inf without a cap.
    item : float
        Of the share of users that hold one item.
    all_items : float
        Of all shares together, summed over the items (upper bound).
    """

    most_messages: float
    item: float
    all_items: float

    def of(self, corrupt_users: float) -> Influence:
        """Return what so many of them do together."""
        return Influence(self.most_messages, corrupt_users * self.item, corrupt_users * self.all_items)


def influence(plan: Plan, method: object = None) -> Influence:
    """Influence of one user on the estimates of a plan.

    Parameters
    ----------
    plan : Plan
        Of users who send copies of their items among dummies: each message adds a collection's weight over its users'
        copies to one item, or takes it away. The worst collection counts.
    method : Method, optional
        What made the plan; one whose users send something else says itself what they can do (``method.influence``).

    Raises
    ------
    ParameterError
        If nothing is known of the protocol.
    """
    if method is not None and hasattr(method, "influence"):
        own: Influence = method.influence(plan)
        return own
    if not plan.collections:
        raise ParameterError("method", plan.method, "one whose messages name items, or that has a function influence")
    found = []
    for collection in plan.collections:
        scheme, factor = collection.announcement, collection.factor(plan.problem.level_counts)
        most, m = scheme.most_messages, scheme.blanket_per_user
        mean, copies = m / scheme.domain_size, max(scheme.copies)
        item, moved = max(most - mean, copies + mean), most + m + scheme.set_size * copies
        found.append((most, item * factor, moved * factor))
    return Influence(*map(max, zip(*found, strict=True)))


Options = Mapping[str, Any]


@dataclass(frozen=True)
class Declared:
    """One method of a protocol; a file lists its methods in ``METHODS``.

    Options that the configuration may set are in ``OPTIONS`` (published methods) and ``PROVEN_OPTIONS``, each with its
    JSON schema, description and default.

    Parameters
    ----------
    name : str
        Identifier in the configuration, tables and file names. A literal: the configuration is checked without
        importing the file.
    look : Look or str
        How it is drawn. A text alone is its legend entry; colour, marker and dashes are then ones that nobody has.
    make : callable
        Returns the method, given the file's options for its accounting (a mapping with a value for every key). A
        proven method is given the keys of the section ``proven`` besides.
    accounting : str
        "published" or "proven": which of the two kinds of privacy numbers the method is planned with.
    role : str
        "curve": drawn over m; "competitor": one number per panel; "reference": not a protocol of the shuffle model;
        "variant": a curve that runs where the configuration names it (``proven.variants``);
        "compared": not in the panels, only where all protocols are compared.
    in_paper : bool
        Whether it is one of the competitors of the paper; no other enters the verdicts on the paper's statements.
    detail : str
        What the legend entry adds, with fields from the plan's parameters, such as " (ε = {local_epsilon:g})".
    file : str
        Where it is declared, without ending; `registry.every` says it.
    """

    name: str
    look: Look | str
    make: Callable[[Options], Method]
    accounting: str = "published"
    role: str = "competitor"
    in_paper: bool = False
    detail: str = ""
    file: str = ""
