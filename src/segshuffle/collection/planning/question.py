"""A question about a collection, as a value. Command line, rehearsals and library ask the same questions.

All plans of a question are ranked by one error: that of all items together, or that of the most frequent items of the
guess.
"""

import functools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from segshuffle.blankets.named import laws
from segshuffle.collection.messages import Server
from segshuffle.collection.planning.asked import Goal, Guess, Limits
from segshuffle.collection.planning.foresight import hardest_share, loss_of
from segshuffle.errors import InfeasibleError, OptionsError, ParameterError, similar
from segshuffle.numerics.ranges import check_choice, check_kind
from segshuffle.numerics.typed import typed
from segshuffle.option_fields import fields_of, option, options_of
from segshuffle.plans.level_counts import LevelPrivacy, left_for_items
from segshuffle.plans.plan import Problem, assignment_spread
from segshuffle.plans.targets import error_of_item
from segshuffle.plans.weights import ErrorTerms
from segshuffle.protocols.capped import Capped
from segshuffle.protocols.proven import SINGLE, ProvenSegmented, expected_seconds

#: Value of `dummies` that chooses the best law for the goal.
BEST = "best"
#: Measured seconds of a law other than single dummies: a multiple of the seconds of single dummies, plus seconds per
#: level. The other pairs are for laws that use further messages to hide the counts, without and with a largest error.
_OTHER_LAWS, _HIDING, _BUDGETS = (1.5, 0.06), (1.5, 0.11), (4.0, 0.4)
#: Further seconds of such a law: for any problem, and for the square of the number of levels.
_ANY, _SQUARE = 0.2, 0.004
#: Number of plans in a search for the least epsilon.
_EPSILON_PLANS = 12

_KINDS: dict[str, tuple[type, ...]] = {
    "problem": (Problem,),
    "goal": (Goal,),
    "limits": (Limits,),
    "guess": (Guess,),
    "level_privacy": (LevelPrivacy, type(None)),
}


@dataclass(frozen=True, eq=False)
class Question:
    """A question about a plan.

    Parameters
    ----------
    problem : Problem
        Public quantities.
    goal : Goal
        What the plan minimises.
    limits : Limits
        Limits of the plan.
    guess : Guess
        Guess of what users hold.
    dummies : str
        Law of the dummies; "best" chooses among all.
    level_privacy : LevelPrivacy or None
        Guarantee for the level that a user picked; None: levels are only shuffled.

    Raises
    ------
    ParameterError
        If parts of the question contradict each other, or a part has no effect.
    """

    problem: Problem
    goal: Goal = field(default_factory=Goal)
    limits: Limits = field(default_factory=Limits)
    guess: Guess = field(default_factory=Guess)
    dummies: str = option(
        SINGLE,
        f"kind of dummy messages: {', '.join(laws())} (poisson: single dummies), or best: with max_messages the "
        "kind with the least error (or epsilon), with target_error the kind with the fewest messages (or least "
        "epsilon)",
    )
    level_privacy: LevelPrivacy | None = option(
        None,
        "hide which level a user picked, with this epsilon in (0, 100] (and this delta, after a comma; without "
        "one the delta of the items); otherwise levels are only shuffled, and the server sees how many users "
        "picked each",
        name="hide_level",
    )

    @classmethod
    def of(cls, problem: Problem, **asked: Any) -> "Question":
        """Make a question from the fields of `Goal`, `Limits` and `Guess`, and ``dummies`` and ``hide_level``, by name.

        Parameters
        ----------
        problem : Problem
            Public quantities. If levels are hidden, its assumptions become those of private levels.
        **asked
            Values. ``guess`` is the field `Guess.frequencies`, or a `Guess`; ``hide_level`` an epsilon, a pair of
            epsilon and delta, or a `LevelPrivacy`.

        Raises
        ------
        OptionsError
            If there is no such field; the message has the most similar name.
        """
        check_kind("problem", problem, Problem)
        known = options_of(Goal, Limits, Guess, cls)
        for name in asked:
            if name not in known:
                raise OptionsError(f"{name} is unknown{similar(name, known)}. Known are {', '.join(known)}.")
        own, shares = fields_of(cls, asked), asked.get("guess")
        hidden = own.pop("level_privacy", None)
        if hidden is not None:
            if not isinstance(hidden, LevelPrivacy):
                epsilon, delta = hidden if isinstance(hidden, tuple) and len(hidden) == 2 else (hidden, None)
                hidden = LevelPrivacy(epsilon, delta or problem.delta)
            problem = replace(problem, assumptions=replace(problem.assumptions, private_levels=True))
        guess = shares if isinstance(shares, Guess) else Guess(**fields_of(Guess, asked))
        goal, limits = Goal(**fields_of(Goal, asked)), Limits(**fields_of(Limits, asked))
        return cls(problem, goal, limits, guess, **own, level_privacy=hidden)

    def as_dict(self) -> dict[str, Any]:
        """Return what was asked besides the problem, as `of` takes it, JSON-ready; defaults are left out."""
        values: dict[str, Any] = {}
        for part in (self, self.goal, self.limits, self.guess):
            for name, each in options_of(type(part)).items():
                value = getattr(part, each.name)
                if isinstance(value, LevelPrivacy):
                    value = [value.epsilon, value.delta]
                elif isinstance(value, np.ndarray):
                    value = value.tolist()
                if value != each.default:
                    values[name] = value
        return values

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            check_kind(name, getattr(self, name), *kinds)
        self.guess.check(self.problem)
        if self.goal.top is not None and self.guess.frequencies is None:
            allowed = "given with a guess of frequencies, such as zipf:1; an error in per cent needs one, too"
            raise ParameterError("top", self.goal.top, allowed)
        self._check_target()
        if self.level_privacy is not None and len(self.problem.levels) == 1:
            raise ParameterError("hide_level", self.level_privacy.epsilon, "left out with one level for everybody")
        self._check_laws()

    def _check_target(self) -> None:
        """Refuse an error that needs no data, and one that cutting sets alone exceeds."""
        target, most, unit = self.goal.target_error, self.problem.error_without_data, ""
        if target is None:
            return
        if self.goal.top is not None:
            most, unit = 1.0, ", as a share of an item's users (100 %)"
        if target >= most > 0.0:
            allowed = f"below {most:g}{unit}, because an answer that uses no data has at most this error"
            raise ParameterError("target_error", target, allowed)
        if not (self.squared_target or 0.0) > 0.0:
            lost = f"cutting sets to {self.problem.set_size} items alone exceeds it: raise set_size"
            raise InfeasibleError(f"target_error = {self.asked_error} cannot be reached, because {lost}.")

    def _check_laws(self) -> None:
        """Refuse a law that is unknown, or that contradicts the goal or the limits."""
        check_choice("dummies", self.dummies, (*laws(), BEST))
        if self.dummies == BEST and self.goal.finds == "error" and self.limits.max_messages is None:
            allowed = "given with max_messages or target_error; more messages have less error"
            raise ParameterError("dummies", BEST, allowed)
        fixed, cap = self.limits.blanket_per_user, self.limits.blanket_cap
        if fixed is not None and (len(self.laws) > 1 or self.goal.finds == "messages"):
            rule = f"left out with other dummies than {SINGLE} ones, and where the fewest messages are searched for"
            raise ParameterError("blanket_per_user", fixed, rule)
        if cap is not None and len(self.laws) > 1:
            raise ParameterError("blanket_cap", cap, f"left out with other dummies than {SINGLE} ones")

    @property
    def laws(self) -> tuple[str, ...]:
        """Laws of dummies that the plan may have, single dummies first."""
        return tuple(dict.fromkeys((SINGLE, *(laws() if self.dummies == BEST else (self.dummies,)))))

    @functools.cached_property
    def hardest(self) -> float | None:
        """Share of the users who hold the least frequent of the top items; None if all items count."""
        shares = self.guess.shares(self.problem)
        return None if self.goal.top is None or shares is None else hardest_share(shares, self.goal.top)

    @property
    def level_messages(self) -> float:
        """Messages of a user about a hidden level, on average; 0 if levels are not hidden."""
        if self.level_privacy is None:
            return 0.0
        return 1.0 + Server(self.problem, self.level_privacy).announce_levels().blanket_per_user

    @property
    def method(self) -> ProvenSegmented:
        """The method that plans within the limits, without a cap."""
        measure, counts, problem = None, self.guess.counts(self.problem), self.problem
        if self.hardest is not None:
            measure = error_of_item(self.guess.kept(problem) * self.hardest, problem.n_users)
        elif self.guess.given:
            spread = assignment_spread(counts, problem.n_users)
            measure = ErrorTerms(problem.domain_size, float(counts.sum()) / problem.n_users, spread)
        budget = self.limits.max_messages
        return ProvenSegmented(
            blanket_per_user=self.limits.blanket_per_user,
            copies_max=self.limits.copies_max,
            max_messages=None if budget is None else left_for_items(budget, self.level_messages),
            equal_copies=self.limits.equal_copies,
            laws=self.laws,
            measure=measure,
        )

    @property
    def planner(self) -> Any:
        """The method that plans within the limits, with the cap on the dummies of one user."""
        return self.capped(self.method)

    def capped(self, method: ProvenSegmented) -> Any:
        """Return a method with the cap on the dummies of one user, if there is one."""
        cap = self.limits.blanket_cap
        if cap is None:
            return method
        return Capped(method, None if cap == "auto" else cap)

    @property
    def asked_error(self) -> str:
        """The largest allowed error in words; empty without one."""
        target, top = self.goal.target_error, self.goal.top
        if target is None:
            return ""
        if top is None:
            return f"{target:g} for all items"
        return f"{100 * target:g} % in the top {min(top, self.problem.domain_size)}"

    @property
    def squared_target(self) -> float | None:
        """Largest allowed error, in the unit of the planner."""
        target = self.goal.target_error
        if target is None:
            return None
        if self.hardest is None:
            return target - self.squared_loss
        lost = loss_of([self.hardest], self.guess.kept(self.problem), self.problem.n_users)
        return (target * self.hardest) ** 2 - lost

    @property
    def squared_loss(self) -> float:
        """Expected squared error of cutting alone, summed over the items; 0 if no sizes of sets are guessed."""
        kept = self.guess.kept(self.problem)
        return 0.0 if kept == 1.0 else loss_of(self.guess.held(self.problem), kept, self.problem.n_users)

    @property
    def finds_knee(self) -> bool:
        """Whether a plan with the least epsilon saves messages for slightly larger epsilons: if nothing limits them."""
        limits = (self.limits.max_messages, self.limits.blanket_per_user)
        return self.goal.finds == "epsilon" and limits == (None, None)

    @typed
    def seconds(self, compare: bool = False) -> float:
        """Estimate processor seconds, of the plan alone or with those of all other laws, for a comparison."""
        own = sum(map(self.seconds_of, self.laws))
        own *= _EPSILON_PLANS if self.goal.finds == "epsilon" else 1
        return own + sum(self.seconds_of(law) for law in laws() if compare and law not in self.laws)

    def seconds_of(self, law: str) -> float:
        """Estimate how long a plan with one law takes, in seconds of a processor."""
        check_choice("law", law, laws())
        chosen = laws()[law]
        single, n_levels = expected_seconds(self.problem), len(self.problem.levels)
        if not chosen.parameters():
            return single
        times, every_level = _OTHER_LAWS
        if chosen.spends:
            times, every_level = _BUDGETS if self.goal.finds == "messages" else _HIDING
        return times * single + every_level * n_levels + _ANY + _SQUARE * n_levels**2
