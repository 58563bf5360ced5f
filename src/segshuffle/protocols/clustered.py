"""The segmented protocol with a clustered blanket: the same error as the Poisson blanket's, for fewer messages.

Each user draws a Poisson number of clusters: a uniform item and a logarithmic number of dummies each. The plan chooses
how large clusters are, how many, and the copies of every level; single dummies are among the choices, so it is never
worse than the Poisson plan. Without a budget or an error it has the fewest messages within 5 % of that plan's error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from segshuffle.blankets.clustered import Clustered
from segshuffle.errors import InfeasibleError
from segshuffle.looks import DASHES, PALETTE, Look
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.declared import Declared
from segshuffle.protocols.poisson import PoissonSegmented
from segshuffle.protocols.searched import Searched

#: Cluster parameters that are tried, then twice ones between the best and its neighbours.
_COARSE = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.96)
_BETWEEN = 2
#: A parameter that is worse than so many smaller ones ends the first round.
_PAST = 3
#: How much more than the Poisson plan's error is given for fewer messages.
SLACK = 1.05
#: Relative accuracy of the fewest messages, and by how much a budget is raised where its plan misses the error.
_CLOSE = 0.003
_RAISES, _SEARCHES = 16, 3
#: The error falls about so fast with the budget, in logarithms: a first guess.
_SLOPE = -1.2


@dataclass(frozen=True)
class ClusteredSegmented(Searched):
    """The segmented protocol with a clustered blanket.

    Parameters
    ----------
    copies_max : float
        Largest expected copies a_k per held item, in [1e-120, 64].
    max_messages : float or None
        Budget of expected messages per user: the plan has the least error within it.
    target_error : float or None
        Largest expected squared error, for uniform item frequencies: the plan has the fewest messages for it.
    cluster : float or None
        Cluster parameter p; 0 for single dummies, None for the best.

    Raises
    ------
    ParameterError
        If both a budget and an error are given.
    """

    cluster: float | None = None

    name = "clustered"

    def plan(self, problem: Problem) -> Plan:
        """Choose clusters, m and all a_k, and certify every level.

        Raises
        ------
        InfeasibleError
            If nothing can be sent within the budget, or no number of messages reaches the error.
        """
        single = PoissonSegmented(copies_max=self.copies_max, max_messages=self.max_messages).plan(problem)
        if problem.pairs == 0:
            return self._named(single)
        if self.max_messages is not None:
            p = self._best(lambda p: self._at(p, self.max_messages).guided_error(problem))
            return self._named(min(single, self._at(p, self.max_messages).plan(problem), key=lambda x: x.mse_bound))
        error = SLACK * single.mse_bound if self.target_error is None else self.target_error
        if single.mse_bound > error:
            raise InfeasibleError(
                f"target_error = {error:g} is below {single.mse_bound:g}, the least with any number of messages: raise "
                "it, or copies_max."
            )
        return self._named(self._fewest(problem, error, single))

    def _named(self, plan: Plan) -> Plan:
        return replace(plan, method=self.name)

    def _at(self, p: float, budget: float | None) -> PoissonSegmented:
        if p == 0:
            return PoissonSegmented(copies_max=self.copies_max, max_messages=budget)
        return PoissonSegmented(copies_max=self.copies_max, max_messages=budget, blanket=Clustered(p))

    def _fewest(self, problem: Problem, error: float, single: Plan) -> Plan:
        """The plan of about the fewest messages within an error that `single` meets.

        The guide may be too hopeful of a p: it is left out then, and the search made again.
        """
        best, hopeless = single, set[float]()
        for _ in range(_SEARCHES):
            reached = self._guided_fewest(problem, error, best.messages_per_user, hopeless)
            before = len(hopeless)
            for p in sorted(reached, key=lambda p: reached[p]):
                plan = self._within(problem, error, p, reached[p], best)
                if plan is None:
                    hopeless.add(p)
                else:
                    best = plan
                    break
            if len(hopeless) == before:
                break
        return best

    def _within(self, problem: Problem, error: float, p: float, budget: float, best: Plan) -> Plan | None:
        """A plan within the error, of a budget raised until it is met; None if `best` needs no more."""
        for raised in budget * (1 + _CLOSE) ** np.arange(_RAISES):
            if raised >= best.messages_per_user:
                return None
            plan = self._at(p, float(raised)).plan(problem)
            if plan.mse_bound <= error and plan.messages_per_user < best.messages_per_user:
                return plan
        return None

    def _guided_fewest(self, problem: Problem, error: float, fewest: float, hopeless: set[float]) -> dict[float, float]:
        """Least budgets with that error by the guide, of every p that was less than the ones tried before it."""
        reached = dict[float, float]()

        def messages(p: float) -> float:
            nonlocal fewest
            high = fewest / (1 + _CLOSE)
            found = math.inf if p in hopeless else self._at(p, high).guided_error(problem) / error
            if found > 1:
                return math.inf
            high = _least(lambda budget: self._at(p, budget).guided_error(problem) / error, 0.01 * fewest, high, found)
            fewest = min(fewest, high)
            reached[p] = high
            return high

        self._best(messages)
        return reached

    def _best(self, value: Callable[[float], float]) -> float:
        """Cluster parameter of least value, 0 for single dummies: the best of a few, then of those beside it."""
        if self.cluster is not None:
            value(self.cluster)
            return self.cluster
        found = dict[float, float]()
        for p in _COARSE:
            found[p] = value(p)
            if p not in sorted(found, key=lambda p: found[p])[:_PAST]:
                break  # there is one minimum, and it is behind
        for _ in range(_BETWEEN):
            tried = sorted(found)
            best = tried.index(min(found, key=lambda p: found[p]))
            beside = zip(tried[max(best - 1, 0) : best + 1], tried[max(best, 1) : best + 2], strict=False)
            found |= {p: value(p) for p in [round(0.5 * (one + other), 4) for one, other in beside]}
        return min(found, key=lambda p: found[p])


def _least(ratio: Callable[[float], float], low: float, high: float, at_high: float) -> float:
    """About the least budget at which a falling ratio is at most 1, as it is at `high`.

    Secants in logarithms, from the last two budgets, or bisection where they leave the bracket.
    """
    tried = [(math.log(high), math.log(at_high))]
    while high > low * (1 + _CLOSE):
        middle = 0.5 * (math.log(low) + math.log(high))
        x, value = tried[-1]
        slope = _SLOPE if len(tried) == 1 else (value - tried[-2][1]) / (x - tried[-2][0])
        if slope < 0 and len(tried) % 4:
            # a little towards the safe side: the next point should end the search there
            guess = x - value / slope + 0.4 * _CLOSE
            middle = guess if math.log(low) < guess < math.log(high) else middle
        found = ratio(math.exp(middle))
        if found <= 1:
            high = math.exp(middle)
            if found >= 1 - _CLOSE / 10:
                break
        else:
            low = math.exp(middle)
        if math.isfinite(found):
            tried.append((middle, math.log(found)))
    return high


METHODS = (
    Declared(
        "clustered",
        Look("Clustered blanket (ours, proven)", PALETTE["blue"], "h", DASHES[3]),
        lambda options: ClusteredSegmented(copies_max=float(options["copies_max"])),
        accounting="proven",
        role="compared",
    ),
)
