"""The interface of a method, its declaration, and the code that several methods share.

The *influence* of a user is the largest shift of the expected estimates if this user does not follow the protocol.
Estimates are linear in the messages, so b liars shift them b times as far. docs/proof.md has the formulas for messages
that name an item. Competitors with other messages have formulas of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.digits import added
from segshuffle.plans.plan import Plan, Problem, Sample


class Method(Protocol):
    """One protocol: a plan from public quantities, an exact simulation, a closed-form error."""

    @property
    def name(self) -> str:
        """Identifier in tables and file names."""

    def plan(self, problem: Problem) -> Plan:
        """Fix every parameter."""

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Return the estimated frequencies, shape (repetitions, domain_size), exact in distribution."""

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Return the expected squared error against the sample, over random levels and the protocol's randomness."""

    def sum_variance(self, plan: Plan) -> float | None:
        """Return the variance of the sum of all estimates if users hold s items each; None without a closed form."""


@dataclass(frozen=True)
class Influence:
    """Largest shift of the expected estimates that one user can cause.

    Parameters
    ----------
    most_messages : float
        Most messages that the shuffler takes from one sender; +inf without limit.
    item : float
        Largest shift of the share of one item.
    all_items : float
        Upper bound on the shift of all shares, summed over the items.
    """

    most_messages: float
    item: float
    all_items: float

    @classmethod
    def of_messages(
        cls, problem: Problem, weight: float, most: float, free: float, held: float, reach: int = 1
    ) -> Influence:
        """Return the influence of a user whose messages are counted.

        Parameters
        ----------
        problem : Problem
            The collection.
        weight : float
            What the counts are divided by.
        most : float
            Most messages of a user.
        free, held : float
            Messages that an honest user adds on average to the count of an item that it does not hold, or holds.
        reach : int
            Most items that count the same message.
        """
        d, s, _ = problem.sizes
        return cls(most, max(most - free, held) / weight, (most * reach + (d - s) * free + s * held) / weight)

    def of(self, corrupt_users: float) -> Influence:
        """Return the influence of several users together."""
        return Influence(self.most_messages, corrupt_users * self.item, corrupt_users * self.all_items)


class ErrorAsPlanned:
    """Closed form for a protocol whose error depends neither on the items nor on the levels of the users."""

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Return the error that was planned."""
        return plan.mse_bound


class IndependentCounters(ErrorAsPlanned):
    """Closed forms for a protocol of the kind `ErrorAsPlanned` that also has independent counters."""

    def sum_variance(self, plan: Plan) -> float:
        """Return the planned error, because the variances of independent counters add up."""
        return plan.mse_bound


def variance_sources(plan: Plan) -> tuple[float, float, float]:
    """Return noise, own and spread: an estimated share w has the variance noise + own w + spread w (1 - w).

    Noise comes from the dummies, own from the users' sampling, and spread from random levels with unequal copies.
    Levels are random with exact counts, so the users of a level who hold an item are a draw without replacement.
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


class CopiesAndDummies:
    """A protocol whose users send copies of items and dummies, in `Plan.collections`.

    The estimate is the weighted sum of the collections' estimates.
    """

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Simulate estimates from counters of all copies and dummies."""
        estimate = np.zeros((sample.repetitions, sample.domain_size))
        for each in plan.collections:
            estimate += each.simulate(sample.level_item_counts, plan.problem.level_counts, rng)
        return estimate

    def expected_mse(self, plan: Plan, item_counts: IntArray | FloatArray) -> float:
        """Return the closed form of `simulate`'s mean squared error."""
        problem, (noise, own, spread) = plan.problem, variance_sources(plan)
        shares = np.asarray(item_counts) / problem.n_users
        size = problem.set_size if problem.assumptions.sets == "exactly" else shares.sum()
        return float(problem.domain_size * noise + size * own + spread * (shares @ (1 - shares)))

    def sum_variance(self, plan: Plan) -> float:
        """Return the variance of the sum of all estimates. Levels and a fixed number of dummies add nothing."""
        (d, s, _), counts, (_, own, _) = plan.problem.sizes, plan.problem.level_counts, variance_sources(plan)
        noise = added(each.factor(counts) ** 2 * each.announcement.noise_of(d) for each in plan.collections)
        return noise + s * own

    def influence(self, plan: Plan) -> Influence:
        """Return the influence of one user in the worst collection."""
        influences = []
        for each in plan.collections:
            scheme, weight = each.announcement, 1 / each.factor(plan.problem.level_counts)
            free = scheme.blanket_per_user / scheme.domain_size
            one = Influence.of_messages(plan.problem, weight, scheme.most_messages, free, free + max(scheme.copies))
            influences.append(astuple(one))
        return Influence(*map(max, zip(*influences, strict=True)))


Options = Mapping[str, Any]
#: What a row of the tidy table is: "grid" is one m of the configuration's grid. "best" is the m that the method's own
#: search picks, which need not be on the grid. "budget" is what the search picks within a budget of messages. The
#: estimates of "recentred" and "projected" are those of "best", moved to sum to s or projected onto possible
#: frequencies.
Row = Literal["grid", "best", "budget", "recentred", "projected"]


@dataclass(frozen=True)
class MethodEntry:
    """One method of a protocol; a file lists its methods in ``METHODS``.

    Options that the configuration may set are in ``OPTIONS`` (published methods) and ``PROVEN_OPTIONS``, each with its
    JSON schema, description and default.

    Parameters
    ----------
    name : str
        Identifier in the configuration, tables and file names. A literal: the configuration is checked without
        importing the file.
    make : callable
        Returns the method, given a mapping with a value for every option of its file under its accounting. For a proven
        method the mapping also has the keys of the section ``proven``.
    accounting : str
        "published" or "proven": the kind of privacy numbers with which the method plans (`MethodEntry.plan`).
    role : str
        "curve": drawn over the dummies per user; "competitor": one number per panel; "reference": not a protocol of the
        shuffle model; "variant": a curve that runs if the configuration names it (``proven.variants``); "compared":
        only in comparisons of all protocols, not in the panels.
    rows : tuple of Row
        What a panel has of it; "recentred" follows the configuration.
    in_paper : bool
        Whether it is a competitor of the paper; only these count for the verdicts on the paper's statements.
    shuffle_model : bool
        Whether users need to trust nobody but a shuffler that only shuffles.
    local : bool
        Whether its option ``local_epsilon`` is itself the guarantee of every user, exact without any accounting.
    compared : tuple of mapping, optional
        Options with which it is planned in comparisons of all protocols, one plan for each; empty if it is left out.
        By default the options of the configuration if it is proven, else left out.
    file : str
        File of the declaration, without ending; set by `registry.every`.
    """

    name: str
    make: Callable[[Options], Method]
    accounting: str = "published"
    role: str = "competitor"
    rows: tuple[Row, ...] = ("best",)
    in_paper: bool = False
    shuffle_model: bool = True
    local: bool = False
    compared: tuple[Options, ...] | None = None
    file: str = ""

    def plan(self, method: Method, problem: Problem) -> Plan:
        """Plan with a method that this declaration made; numbers are only proven if it says so, whatever the file."""
        plan = method.plan(problem)
        if self.accounting == "proven":
            return plan
        return replace(plan, kind="exact" if self.local else "published")

    @property
    def comparisons(self) -> tuple[Options, ...]:
        """Options of every plan in comparisons of all protocols."""
        by_default: tuple[Options, ...] = ({},) if self.accounting == "proven" else ()
        return by_default if self.compared is None else self.compared
