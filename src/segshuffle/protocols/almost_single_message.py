"""Almost a single message (Luo, Wang and Yi, CCS 2022): hashed items among uniform dummies, for large domains.

A user sends every item x as (u, v, w), w = ((u x + v) mod q) mod b. Every message has its own random u and v; q is a
prime above both d and b. A user also sends rho uniform dummies (u, v, w). The counter X_x of an item is the number of
messages consistent with it: those of its holders, those of other items with probability p_col, and dummies with
probability 1/b. The estimated number of holders is (X_x - n rho/b - n s p_col)/(1 - p_col). If d <= b nothing is
hashed: messages are items, and p_col = 0.

Privacy. If all messages but one are known, the likelihood of the multiset given x is proportional to the number of
messages consistent with x. So a message is hidden by the dummies consistent with x and not with x'. In the paper their
number is mu = n rho/b.

- published: mu is the least mean with Pr[X1 >= e^eps X2 - 1] <= delta for independent X1, X2 ~ Bin(n, mu/n). The
  authors' program finds it in this way. For sets of s items group privacy over the items is used.
- proven: each of s exchanged items has its own share of the dummies (only the proof divides them). So two sets give a
  product of s pairs with Poisson mean n rho (1 - p_col)/(s b); see docs/proof.md.

All users have the guarantee of the lowest level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from segshuffle.accounting.collections.calibration import least_blanket_mean
from segshuffle.accounting.collections.published import exchange_target
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.digits import rounded_up
from segshuffle.numerics.laws import binomial_pmf, binomial_tail
from segshuffle.numerics.search import log_excess, safe_edge
from segshuffle.plans.method import ErrorAsPlanned, Influence, MethodEntry
from segshuffle.plans.plan import Plan, Problem, Sample

#: Fewer consistent dummies than this are useless for any guarantee.
_LEAST_MEAN = 1e-3


@dataclass(frozen=True)
class Hash:
    """The family of hash functions of a domain: x -> ((u x + v) mod q) mod b.

    Parameters
    ----------
    domain_size : int
        Items d.
    prime : int
        q, above the domain and the buckets; 0 if items are sent as they are.
    buckets : int
        b >= 2; the domain's size if items are sent as they are.
    """

    domain_size: int
    prime: int
    buckets: int

    @classmethod
    def of(cls, domain_size: int, n_users: int, log_power: float) -> Hash:
        """Take b = n/ln(n)^c buckets as the paper does, or no hashing if b is at least the domain size."""
        buckets = max(int(n_users / math.log(max(n_users, 3)) ** log_power), 2)
        if buckets >= domain_size:
            return cls(domain_size, 0, domain_size)
        return cls(domain_size, _prime_above(domain_size), buckets)

    @property
    def collision(self) -> float:
        """Probability that two different items have the same hash, over u in [1, q) and v in [0, q): exact."""
        if not self.prime:
            return 0.0
        whole, rest = divmod(self.prime, self.buckets)
        return whole * (rest + self.prime - self.buckets) / (self.prime * (self.prime - 1))

    @property
    def reach(self) -> int:
        """Most items with the same hash."""
        return max(math.ceil(self.prime / self.buckets), 1)

    def consistent(self, items: IntArray, dummies: int, rng: np.random.Generator) -> IntArray:
        """Draw how many messages are consistent with each item, shape (domain_size,), for these items and dummies.

        A message is consistent with x if u x + v mod q is one of w, w + b, ... Instead of u and v, 1/u mod q and z =
        u y + v mod q are drawn for a known item y. They are also uniform, and give all such x without a search.
        """
        if not self.prime:
            messages = np.append(items, rng.integers(self.domain_size, size=dummies))
            return np.bincount(messages, minlength=self.domain_size).astype(np.int64)
        # the bucket of a dummy is drawn for itself, so any item can be its y
        y = np.append(items, np.zeros(dummies, dtype=np.int64))
        inverse_of_u = rng.integers(1, self.prime, size=y.size)
        z = rng.integers(self.prime, size=y.size)
        w = np.append(z[: items.size] % self.buckets, rng.integers(self.buckets, size=dummies))
        counts = np.zeros(self.domain_size, dtype=np.int64)
        for first in range(0, self.prime, self.buckets):
            value = w + first
            x = (y + (value - z) * inverse_of_u) % self.prime
            is_item = (value < self.prime) & (x < self.domain_size)
            counts += np.bincount(x[is_item], minlength=counts.size)
        return counts


def _bits(numbers: int) -> int:
    """Return the bits that so many different numbers take."""
    return math.ceil(math.log2(numbers))


def _prime_above(number: int) -> int:
    prime = number + 1
    while any(prime % divisor == 0 for divisor in range(2, math.isqrt(prime) + 1)):
        prime += 1
    return prime


def published_mean(*, n_users: int, epsilon: float, delta: float) -> float:
    """Return the least mean mu with Pr[X1 >= e^eps X2 - 1] <= delta for X1, X2 ~ Bin(n, mu/n), rounded up.

    Parameters
    ----------
    n_users : int
        Users n.
    epsilon, delta : float
        Guarantee of one item.

    Returns
    -------
    float
        Number of consistent dummies, of kind "published"; the exact `least_blanket_mean` is smaller.
    """
    at_least = 1e-30 * delta

    def excess(mean: float) -> float:
        share = min(mean / n_users, 1 - 1e-16)
        least, left = (math.ceil(special.bdtrik(at_least, n_users, each)) for each in (share, 1 - share))
        second = np.arange(least, n_users - left + 1.0)
        first = np.ceil(np.exp(epsilon) * second - 1)
        return log_excess(float(binomial_pmf(n_users, second, share) @ binomial_tail(n_users, first, share)), delta)

    return safe_edge(excess, safe=float(n_users), unsafe=_LEAST_MEAN)


@dataclass(frozen=True)
class AlmostSingleMessage(ErrorAsPlanned):
    """The protocol with everybody at the lowest level.

    Parameters
    ----------
    log_power : float
        The c >= 0 in b = n/ln(n)^c: 1 gives the least error, 3 the fewest messages.
    accounting : {"published", "proven"}
        Which mean number of consistent dummies is used.
    """

    log_power: float = 1.0
    accounting: str = "published"
    name = "almost-single"

    def plan(self, problem: Problem) -> Plan:
        """Fix buckets and dummies for the lowest level and all users."""
        problem.assumptions.refuse_beyond_plain(self.name)
        hashing = Hash.of(problem.domain_size, problem.n_users, self.log_power)
        d, s, n = problem.sizes
        dummies = rounded_up(self._mean(problem, hashing) * hashing.buckets / n)
        hit, collision = 1 / hashing.buckets, hashing.collision
        noise = d * n * (dummies * hit * (1 - hit) + self._variance(dummies) * hit**2)
        noise += n * s * (d - 1) * collision * (1 - collision)
        return Plan(
            method=self.name,
            problem=problem,
            kind="upper" if self.accounting == "proven" else "published",
            blanket_per_user=dummies,
            messages_per_user=dummies + s,
            parameters={
                "epsilon": problem.levels[0],
                "buckets": hashing.buckets,
                "prime": hashing.prime,
                "bits_per_message": 2 * _bits(max(hashing.prime, 1)) + _bits(hashing.buckets),
            },
            mse_bound=noise / ((1 - collision) * n) ** 2,
        )

    def _mean(self, problem: Problem, hashing: Hash) -> float:
        """Return the consistent dummies of all users, n rho/b."""
        epsilon, delta = problem.levels[0], problem.delta
        if self.accounting == "proven":
            items = problem.set_size
            mean = least_blanket_mean(copies=1.0, pairs=items, epsilon=epsilon, delta=delta)
            return items * mean / (1 - hashing.collision)
        epsilon, delta = exchange_target(epsilon=epsilon, delta=delta, pairs=problem.pairs)
        return published_mean(n_users=problem.n_users, epsilon=epsilon, delta=delta)

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Simulate message by message, because counters of different items are not independent."""
        hashing, items, n_users = _hash_of(plan), sample.items.ravel().astype(np.int64), sample.n_users
        expected = n_users * plan.blanket_per_user / hashing.buckets + items.size * hashing.collision
        runs = range(sample.repetitions)
        counts = np.array([hashing.consistent(items, self._draw_dummies(plan, n_users, rng), rng) for _ in runs])
        return (counts - expected) / ((1 - hashing.collision) * n_users)

    def _draw_dummies(self, plan: Plan, n_users: int, rng: np.random.Generator) -> int:
        if self.accounting == "proven":
            return int(rng.poisson(n_users * plan.blanket_per_user))
        whole, part = divmod(plan.blanket_per_user, 1.0)
        return n_users * int(whole) + int(rng.binomial(n_users, part))

    def sum_variance(self, plan: Plan) -> float | None:
        """Return the variance of the sum of all estimates; None if items are hashed: there is no closed form."""
        return None if plan.parameters["prime"] else self._variance(plan.blanket_per_user) / plan.problem.n_users

    def _variance(self, dummies: float) -> float:
        """Return the variance of the number of dummies of one user: Poisson, or a whole number plus a coin."""
        part = dummies % 1.0
        return dummies if self.accounting == "proven" else part * (1 - part)

    def influence(self, plan: Plan) -> Influence:
        """Return the influence: a message counts for every item with the same hash, at most ceil(q/b) items."""
        hashing, s = _hash_of(plan), plan.problem.set_size
        # a Poisson number of dummies has no maximum
        most = s + math.ceil(plan.blanket_per_user) if plan.kind == "published" else math.inf
        dummies, weight = plan.blanket_per_user / hashing.buckets, (1 - hashing.collision) * plan.problem.n_users
        free, held = dummies + s * hashing.collision, 1 + dummies + (s - 1) * hashing.collision
        return Influence.of_messages(plan.problem, weight, most, free, held, hashing.reach)


def _hash_of(plan: Plan) -> Hash:
    return Hash(plan.problem.domain_size, plan.parameters["prime"], plan.parameters["buckets"])


OPTIONS = {
    "log_power": {
        "description": "c in the number of buckets b = n/ln(n)^c: 1 gives the least error, 3 the fewest messages.",
        "type": "number",
        "minimum": 0,
        "default": 1.0,
    }
}
#: What comparisons of all protocols try.
_COMPARED = tuple({"log_power": power} for power in (0.0, 0.5, 1.0, 2.0, 3.0))

METHODS = (
    MethodEntry(
        "almost-single",
        lambda options: AlmostSingleMessage(options["log_power"]),
        compared=_COMPARED,
    ),
    MethodEntry(
        "almost-single",
        lambda options: AlmostSingleMessage(options.get("log_power", 1.0), "proven"),
        accounting="proven",
        role="compared",
        compared=_COMPARED,
    ),
)
