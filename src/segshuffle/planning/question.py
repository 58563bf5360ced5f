"""A question about a collection, and its answer, as values. Command line, rehearsals and library use them.

A question has a problem, a goal, limits, a law, and a guess of how frequent items are. The law is the kind of the
dummy messages: single ones, several at a time about one item, or with signs. All plans of a question are ranked by one
error: that of all items together, or that of the most frequent items of the guess.
"""

import contextlib
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from segshuffle.accounting.collections.levels import UserGuarantee
from segshuffle.accounting.numerics.ranges import (
    check_choice,
    check_integer,
    check_kind,
    check_positive,
    check_within,
    numbers,
)
from segshuffle.arrays import FloatArray
from segshuffle.blankets.named import laws
from segshuffle.digits import rounded_up
from segshuffle.errors import InfeasibleError, ParameterError, SegshuffleError
from segshuffle.planning.foresight import Expected, expected, hardest_share, loss_of
from segshuffle.planning.wording import promises, resting_on, sending
from segshuffle.protocols.base import Plan, Problem, assignment_spread
from segshuffle.protocols.capped import Capped
from segshuffle.protocols.messages import LevelPrivacy, Server
from segshuffle.protocols.messages.level_counts import left_for_items, level_cautions
from segshuffle.protocols.padding import zipf_shares
from segshuffle.protocols.planner import error_of_item
from segshuffle.protocols.proven import SINGLE, ProvenSegmented, expected_seconds
from segshuffle.protocols.weights import ErrorTerms

#: Number of top items that are shown if the question does not give one.
TOP = 20
#: Value of `blanket` that chooses the best law for the goal.
BEST = "best"
#: Seconds of a processor that a law may take in the comparison, if the question does not ask for this law.
PATIENCE = 4.0
#: Measured seconds of a law other than single dummies: a multiple of the seconds of single dummies, plus seconds per
#: level. The second pair is for laws that are planned with several limits on the messages.
_OTHER_LAWS, _BUDGETS = (2.0, 0.7), (5.0, 1.2)
#: Number of plans in a search for the least epsilon.
_EPSILON_PLANS = 12
#: Relative step of the search for the least epsilon; levels are then rounded up to three digits. Range of the largest.
_CLOSE = 0.01
_EPSILONS = (1e-6, 100.0)
#: Factor of an epsilon, or of an error, that may be given up to save messages.
_KNEE = 1.05

_zipf_shares = functools.lru_cache(maxsize=4)(zipf_shares)


@dataclass(frozen=True)
class LeastError:
    """The least error within the limits."""


@dataclass(frozen=True)
class FewestMessages:
    """The fewest messages for an error of at most `error` (see `Question.top` for its unit)."""

    error: float


@dataclass(frozen=True)
class LeastEpsilon:
    """The least epsilons for an error of at most `error`; ratios between levels do not change.

    With a limit on messages, epsilons are the least to within 2 %; otherwise to within 7 %, with the fewest messages.
    """

    error: float


Goal = LeastError | FewestMessages | LeastEpsilon


@dataclass(frozen=True)
class Limits:
    """Limits of a plan.

    Parameters
    ----------
    copies_max : float
        Most messages of a user about one held item, on average, in [1e-120, 64].
    max_messages : float or None
        Most messages of a user altogether, on average: about items, about a hidden level, and dummies.
    equal_copies : bool
        Whether users of all levels send equally many messages about a held item; then there is no bias even if levels
        depend on items.
    blanket_per_user : float or None
        Dummies of a user on average, if given; only for single dummies.
    blanket_cap : int, "auto" or None
        Most dummies of one user; "auto" takes the least number that costs at most a thousandth of the
        smallest epsilon (or of 1, if that is less).
    """

    copies_max: float = 1.0
    max_messages: float | None = None
    equal_copies: bool = False
    blanket_per_user: float | None = None
    blanket_cap: int | Literal["auto"] | None = None


@dataclass(frozen=True, eq=False)
class Guess:
    """A public guess of what users hold; privacy does not depend on it.

    Parameters
    ----------
    frequencies : float, ndarray of float or None
        Exponent a of Zipf's law: the share of item j is roughly proportional to j^-a. Or the share of the users who
        hold each item, shape (domain_size,). None: all items are equally frequent.
    mean_size : float or None
        Items that a user sends on average, if sets have at most set_size items; None: set_size.
    sizes : mapping of int to float, or None
        Number of items -> share of the users who hold so many. Larger sets than set_size are cut, and errors then
        include what this loses: every item loses the same share of its holders. None: nobody holds more.
    """

    frequencies: float | FloatArray | None = None
    mean_size: float | None = None
    sizes: Mapping[int, float] | None = None

    def __post_init__(self) -> None:
        given: Any = self.frequencies
        if isinstance(given, Real):
            check_within("zipf", given, 0, 10)
            given = float(given)
        elif given is not None:
            given = numbers("frequencies", given, "a number, or a list of numbers")
        object.__setattr__(self, "frequencies", given)

    @property
    def given(self) -> bool:
        """Whether anything is guessed."""
        return any(each is not None for each in vars(self).values())

    def shares(self, problem: Problem) -> FloatArray | None:
        """Return the share of the users who hold each item, shape (domain_size,); None if there is no guess."""
        if self.frequencies is None or isinstance(self.frequencies, np.ndarray):
            return self.frequencies
        return _zipf_shares(self.mean_held(problem), problem.domain_size, self.frequencies)

    def mean_held(self, problem: Problem) -> float:
        """Return the number of items that a user holds on average."""
        if self.sizes is not None:
            return sum(size * share for size, share in self.sizes.items())
        return self.mean_size or problem.set_size

    def kept(self, problem: Problem) -> float:
        """Return the share of all entries that users send after cutting sets to set_size."""
        if self.sizes is None:
            return 1.0
        sent = sum(min(size, problem.set_size) * share for size, share in self.sizes.items())
        return sent / self.mean_held(problem)

    def held(self, problem: Problem) -> FloatArray:
        """Return the share of the users who hold each item, equal without a guess, shape (domain_size,)."""
        shares, d = self.shares(problem), problem.domain_size
        return np.full(d, self.mean_held(problem) / d) if shares is None else shares

    def counts(self, problem: Problem) -> FloatArray:
        """Return the users who send each item, shape (domain_size,)."""
        return problem.n_users * self.kept(problem) * self.held(problem)

    def check(self, problem: Problem) -> None:
        """Refuse a guess that does not fit the problem.

        Raises
        ------
        ParameterError
            Names the part of the guess that does not fit.
        """
        exactly, s, d = problem.assumptions.sets == "exactly", problem.set_size, problem.domain_size
        shares = self.frequencies if isinstance(self.frequencies, np.ndarray) else None
        mean_known_from = {
            f"sets=exactly: all users hold {s} items": exactly,
            "sizes, which have a mean": self.sizes is not None,
            f"a list of frequencies, whose sum {0 if shares is None else shares.sum():g} is the mean": shares
            is not None,
        }
        for reason, holds in mean_known_from.items():
            if self.mean_size is not None and holds:
                raise ParameterError("mean-size", self.mean_size, f"left out with {reason}")
        if self.mean_size is not None:
            check_within("mean-size", self.mean_size, 0, s, "(]", allowed=f"above 0 and at most set-size = {s}")
        if self.sizes is not None:
            self._check_sizes(problem)
        if shares is None:
            return
        name, most = ("set-size", s) if self.sizes is None else ("the largest size", max(self.sizes))
        excess = shares.sum() - most
        fits = shares.shape == (d,) and ((shares >= 0) & (shares <= 1)).all()
        if not (fits and (abs(excess) if exactly else excess) <= 1e-6 * most):
            told = f"{shares.size} numbers up to {shares.max(initial=0.0):g} with sum {shares.sum():.10g}"
            allowed = f"domain-size = {d} numbers in [0, 1] with sum {'' if exactly else 'at most '}{name} = {most}"
            raise ParameterError("frequencies", told, allowed)

    def _check_sizes(self, problem: Problem) -> None:
        """Refuse sizes that no users can have, and sizes if all users hold equally many items."""
        given, d = dict(self.sizes or {}), problem.domain_size
        if problem.assumptions.sets == "exactly":
            raise ParameterError("sizes", given, "left out with sets=exactly: no set is cut")
        possible = all(0 <= size <= d and share >= 0 for size, share in given.items())
        if not (possible and abs(sum(given.values()) - 1) < 1e-9 and self.mean_held(problem) > 0):
            allowed = f"shares >= 0 that add up to 100 %, of sizes up to domain-size = {d}, one of them above 0"
            raise ParameterError("sizes", given, allowed)


_KINDS: dict[str, tuple[type, ...]] = {
    "problem": (Problem,),
    "goal": get_args(Goal),
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
    goal : LeastError, FewestMessages or LeastEpsilon
        What the plan minimises.
    limits : Limits
        Limits of the plan.
    blanket : str
        Law of the dummies; "best" chooses among all.
    guess : Guess
        Guess of how frequent items are.
    top : int or None
        Number of top items of the guess. The error is then the largest ratio of standard deviation to share among them.
        None: the error is the expected squared error of all items together.
    level_privacy : LevelPrivacy or None
        Guarantee for the level that a user picked; None: levels are only shuffled.

    Raises
    ------
    ParameterError
        If parts of the question contradict each other, or a part has no effect.
    """

    problem: Problem
    goal: Goal = field(default_factory=LeastError)
    limits: Limits = field(default_factory=Limits)
    blanket: str = SINGLE
    guess: Guess = field(default_factory=Guess)
    top: int | None = None
    level_privacy: LevelPrivacy | None = None

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            check_kind(name, getattr(self, name), *kinds)
        if not isinstance(self.goal, LeastError):
            check_positive("target_error", self.goal.error)
        self.guess.check(self.problem)
        guessed = self.guess.frequencies is not None
        if self.top is not None:
            check_integer("top", self.top, 1)
            if not guessed:
                allowed = "given with a guess of frequencies, such as zipf:1; an error in per cent needs one, too"
                raise ParameterError("top", self.top, allowed)
        self._check_target()
        if self.level_privacy is not None and len(self.problem.levels) == 1:
            raise ParameterError("hide-level", self.level_privacy.epsilon, "left out with one level for everybody")
        self._check_laws()

    def _check_target(self) -> None:
        """Refuse an error that needs no data, and one that cutting sets alone exceeds."""
        if self.target is None:
            return
        name, most, unit = "target-error", self.problem.error_without_data, ""
        if self.top is not None:
            most, unit = 1.0, ", as a share of an item's users (100 %)"
        if self.target >= most > 0.0:
            allowed = f"below {most:g}{unit}, because an answer that uses no data has at most this error"
            raise ParameterError(name, self.target, allowed)
        if not (self.squared_target or 0.0) > 0.0:
            lost = f"cutting sets to {self.problem.set_size} items alone exceeds it: raise set-size"
            raise InfeasibleError(f"target-error = {self.asked_error} cannot be reached, because {lost}.")

    def _check_laws(self) -> None:
        """Refuse a law that is unknown, or that contradicts the goal or the limits."""
        check_choice("blanket", self.blanket, (*laws(), BEST))
        if self.blanket == BEST and isinstance(self.goal, LeastError) and self.limits.max_messages is None:
            allowed = "given with --limits max-messages=M or --target-error ERROR; more messages have less error"
            raise ParameterError("blanket", BEST, allowed)
        for name in ("blanket_per_user", "blanket_cap"):
            value = getattr(self.limits, name)
            if value is not None and (len(self.laws) > 1 or isinstance(self.goal, FewestMessages)):
                rule = f"left out with other dummies than {SINGLE} ones, and where the fewest messages are searched for"
                raise ParameterError(name.replace("_", "-"), value, rule)

    @property
    def laws(self) -> tuple[str, ...]:
        """Laws of dummies that the plan may have, single dummies first."""
        return tuple(dict.fromkeys((SINGLE, *(laws() if self.blanket == BEST else (self.blanket,)))))

    @property
    def target(self) -> float | None:
        """Largest allowed error, in the unit of `top`."""
        return None if isinstance(self.goal, LeastError) else self.goal.error

    @functools.cached_property
    def hardest(self) -> float | None:
        """Share of the users who hold the least frequent of the top items; None if all items count."""
        shares = self.guess.shares(self.problem)
        return None if self.top is None or shares is None else hardest_share(shares, self.top)

    @property
    def level_messages(self) -> float:
        """Messages of a user about a hidden level, on average; 0 if levels are not hidden."""
        return (
            0.0
            if self.level_privacy is None
            else 1.0 + Server(self.problem, self.level_privacy).announce_levels().blanket_per_user
        )

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
        cap = self.limits.blanket_cap
        if cap is None:
            return self.method
        return Capped(self.method, None if cap == "auto" else cap)

    @property
    def asked_error(self) -> str:
        """The largest allowed error in words; empty without one."""
        if self.target is None:
            return ""
        if self.top is None:
            return f"{self.target:g} for all items"
        return f"{100 * self.target:g} % in the top {min(self.top, self.problem.domain_size)}"

    @property
    def squared_target(self) -> float | None:
        """Largest allowed error, in the unit of the planner."""
        if self.target is None:
            return None
        if self.hardest is None:
            return self.target - self.squared_loss
        lost = loss_of([self.hardest], self.guess.kept(self.problem), self.problem.n_users)
        return (self.target * self.hardest) ** 2 - lost

    @property
    def squared_loss(self) -> float:
        """Expected squared error of cutting alone, summed over the items; 0 if no sizes of sets are guessed."""
        kept = self.guess.kept(self.problem)
        return 0.0 if kept == 1.0 else loss_of(self.guess.held(self.problem), kept, self.problem.n_users)

    @property
    def finds_knee(self) -> bool:
        """Whether a plan with the least epsilon saves messages for slightly larger epsilons: if nothing limits them."""
        limits = (self.limits.max_messages, self.limits.blanket_per_user, self.limits.blanket_cap)
        return isinstance(self.goal, LeastEpsilon) and limits == (None, None, None)

    def seconds(self, patience: float | None = None) -> float:
        """Estimate processor seconds to a factor of 3: of the plan alone, or of every law with infinite patience."""
        own = sum(map(self.seconds_of, self.laws))
        own *= _EPSILON_PLANS if isinstance(self.goal, LeastEpsilon) else 1
        return own + sum(self.seconds_of(law) for law in laws() if law not in self.laws and patience == math.inf)

    def seconds_of(self, law: str) -> float:
        """Estimate how long a plan with one law takes, in seconds of a processor."""
        chosen = laws()[law]
        times, every_level = _OTHER_LAWS if chosen.parameters() else (1.0, 0.0)
        if chosen.spends and isinstance(self.goal, FewestMessages):
            times, every_level = _BUDGETS
        return times * expected_seconds(self.problem) + every_level * len(self.problem.levels)


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question.

    Parameters
    ----------
    question : Question
        What was asked.
    plan : Plan
        The plan. Its messages include those about a hidden level. If the least epsilon was asked for, its levels differ
        from those of the question.
    rows : tuple of dict
        A row of the comparison for every law, JSON-ready: its numbers, or why there are none.
    """

    question: Question
    plan: Plan
    rows: tuple[dict[str, Any], ...] = ()

    @property
    def note(self) -> str | None:
        """Sentence about a law that was asked for but is not in the plan, if any."""
        named, found = self.question.blanket, self.plan.scheme.law.name
        if named in (found, BEST):
            return None
        return f"No better plan with {named} dummies was found, so this one has {found} dummies."

    @property
    def warnings(self) -> list[str]:
        """Warnings about a meaningless guarantee, error or cost; usually empty."""
        return [*self.plan.warnings, *level_cautions(self.question.level_messages)]

    @functools.cached_property
    def worth(self) -> Expected:
        """How far off the estimates will be."""
        asked = self.question
        problem = self.plan.problem
        return expected(self.plan, asked.guess.shares(problem), asked.top or TOP, asked.guess.kept(problem))

    @functools.cached_property
    def squared_error(self) -> float:
        """Expected squared error of all items, at the guess."""
        asked = self.question
        return ProvenSegmented().expected_mse(self.plan, asked.guess.counts(self.plan.problem)) + asked.squared_loss

    @functools.cached_property
    def numbers(self) -> dict[str, Any]:
        """Numbers that are shown for a plan with any law, JSON-ready."""
        plan = self.plan
        return {
            "mse_sample": self.squared_error,
            **self.worth.as_dict(plan.problem.n_users),
            "messages_per_user": plan.messages_per_user,
            "blanket_per_user": plan.blanket_per_user,
            "copies": plan.scheme.copies,
            "law": plan.scheme.law.as_dict(),
            "certificate": plan.certificate,
            "bytes_per_message": plan.scheme.dtype.itemsize,
            "kind": plan.kind,
        }

    @functools.cached_property
    def guarantees(self) -> tuple[UserGuarantee, ...]:
        """Guarantees of both rounds (levels, then items) together, by level; empty if levels are not private."""
        privacy = self.question.level_privacy
        return () if privacy is None else Server(self.plan.problem, privacy).guarantees(self.plan)

    @functools.cached_property
    def words(self) -> Mapping[str, list[str]]:
        """The answer in sentences, by topic."""
        asked, n_users = self.question, self.plan.problem.n_users
        return {
            "What users send": sending(self.plan, asked.level_messages),
            "What they are promised": promises(self.plan, self.guarantees),
            "How far off estimates are": [*self._reached(), *self.worth.sentences(n_users), *self._believed()],
            "What this relies on": resting_on(self.plan),
        }

    def _believed(self) -> list[str]:
        """Say what the errors assume about sizes of sets that are not all equal."""
        problem, guess = self.plan.problem, self.question.guess
        if problem.assumptions.sets == "exactly" or not (guess.given or self.question.target):
            return []
        if guess.sizes is not None:
            lost = 100 - 100 * guess.kept(problem)
            return [f"By the guess, cutting sets to {problem.set_size} items removes {lost:.3g} % of all."]
        size = f"users send {guess.mean_held(problem):g} items on average (--guess mean-size)"
        listed = isinstance(guess.frequencies, np.ndarray)
        cut = "cutting of larger sets is left out (--guess sizes=1:60%,12:40%)"
        return [f"For these errors {'' if listed else f'{size}, and '}{cut}."]

    def _reached(self) -> list[str]:
        """Say which error was asked for and which was reached."""
        asked, levels = self.question, self.plan.problem.levels
        if not asked.asked_error:
            return []
        what, width = f"the fewest messages, {self.numbers['messages_per_user']:.4g} per user,", "1 %"
        if isinstance(asked.goal, LeastEpsilon):
            sizes, width = ", ".join(f"{level:g}" for level in levels), "2 %"
            what = (
                f"the least epsilons, {sizes} (in the given ratios)," if levels[1:] else f"the least epsilon, {sizes},"
            )
            if asked.finds_knee:
                width = "7 %, to save messages"
        found = [f"This plan has {what} for an error of at most {asked.asked_error} (to within {width})."]
        return [*found, self.knee] if self.knee else found

    @functools.cached_property
    def knee(self) -> str | None:
        """Sentence about a slightly larger error for which half as many messages are enough, if there is one."""
        asked = self.question
        if not isinstance(asked.goal, FewestMessages) or asked.limits.max_messages is not None:
            return None
        error = rounded_up(_KNEE * asked.goal.error, 3)
        try:
            messages = _complete(replace(asked, goal=FewestMessages(error))).messages_per_user
        except SegshuffleError:
            return None
        if messages > 0.5 * self.plan.messages_per_user:
            return None
        typed = f"{error:g}" if asked.top is None else f"{100 * error:g}%"
        return f"{messages:.4g} messages are enough for --target-error {typed}."


def answer(question: Question, *, patience: float | None = None) -> Answer:
    """Find the plan that a question asks for.

    Parameters
    ----------
    question : Question
        The question.
    patience : float or None
        Seconds that each further law in the comparison may take; None: no other law is tried.

    Returns
    -------
    Answer

    Raises
    ------
    InfeasibleError
        If there is no such plan, or round 1 (about levels) needs too many messages.
    ParameterError
        If a limit is outside its range.
    """
    check_kind("question", question, Question)
    if patience is not None:
        check_within("patience", patience, 0, math.inf)
    found = Answer(question, _complete(question))
    if patience is None:
        return found
    asked = replace(question, problem=found.plan.problem)
    if isinstance(question.goal, LeastEpsilon):
        # at the same levels the other laws have the fewest messages, too, or the least error
        fewest = FewestMessages(question.goal.error)
        asked = replace(asked, goal=fewest if question.finds_knee else LeastError())
    return replace(found, rows=tuple(_beside(found, law, asked, patience) for law in laws()))


def _beside(found: Answer, law: str, asked: Question, patience: float) -> dict[str, Any]:
    """Plan with a further law for the comparison; if that fails, the row has the reason, and the plan remains."""
    seconds, own = asked.seconds_of(law), replace(asked, blanket=law)
    if law == found.plan.scheme.law.name:
        return {"blanket": law, **found.numbers}
    if seconds > patience:
        return {"blanket": law, "none": f"not tried, because it takes about {seconds:.0f} s; --blanket {law} tries it"}
    try:
        other = Answer(own, _complete(own))
        return {"blanket": law, **other.numbers, **({"note": other.note} if other.note else {})}
    except (SegshuffleError, ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        return {"blanket": law, "none": f"no plan ({error})"}


def _complete(question: Question) -> Plan:
    """Plan for a question, without a comparison; messages about a hidden level are counted."""
    plan = _plan(question)
    return replace(plan, messages_per_user=plan.messages_per_user + question.level_messages)


def _plan(question: Question) -> Plan:
    """Plan what users send about items."""
    target = question.squared_target
    if target is None:
        return _of_least_error(question)
    if isinstance(question.goal, LeastEpsilon):
        return _of_least_epsilon(question, target)
    return _of_fewest_messages(question, target)


def _of_least_error(question: Question) -> Plan:
    """Plan with the least error within the limits."""
    budget = question.limits.max_messages
    try:
        plan: Plan = question.planner.plan(question.problem)
    except InfeasibleError as error:
        if not question.level_messages or budget is None:
            raise
        told = f"(Round 1, about the levels, takes {question.level_messages:g} of max-messages = {budget:g}.)"
        raise InfeasibleError(f"{error} {told}") from error
    return plan


def _of_fewest_messages(question: Question, target: float) -> Plan:
    """Plan with the fewest messages for an error."""
    budget = question.limits.max_messages
    free = replace(question, limits=replace(question.limits, max_messages=None))
    try:
        plan = replace(free.method, target_error=target).plan(question.problem)
    except InfeasibleError as error:
        if question.top is None:  # then the planner says the least error, in this unit
            raise
        raise _unreached(
            question, "number of messages: raise the levels (--target-error epsilon:ERROR finds them)"
        ) from error
    needed = plan.messages_per_user + question.level_messages
    if budget is not None and needed > budget:
        raise InfeasibleError(
            f"target-error needs {needed:.4g} messages per user, and --limits max-messages = {budget:g}: raise one of "
            "the two."
        )
    return plan


def _of_least_epsilon(question: Question, target: float) -> Plan:
    """Plan with the least epsilons for an error, to within 2 %; ratios between levels do not change."""
    problem, step, best = question.problem, math.log1p(_CLOSE), None
    low, high = (math.floor(math.log(end / problem.levels[-1]) / step) for end in _EPSILONS)
    while low <= high:
        power = (low + high) // 2
        levels = tuple(min(rounded_up(math.exp(power * step) * each, 3), _EPSILONS[1]) for each in problem.levels)
        asked = replace(question, problem=replace(problem, levels=levels))
        error = math.inf
        with contextlib.suppress(InfeasibleError):
            plan = _of_least_error(asked)
            error = asked.method.searches(plan.problem)[0].error_of(plan)
        if error <= target:
            best, high = plan, power - 1
        else:
            low = power + 1
    if best is None:
        raise _unreached(question, f"epsilon up to {_EPSILONS[1]:g}: raise --limits max-messages if it is given")
    if not question.finds_knee:
        return best
    # the last per cents of epsilon may cost many times as many messages
    levels = tuple(min(rounded_up(_KNEE * each, 3), _EPSILONS[1]) for each in best.problem.levels)
    near = replace(question, problem=replace(problem, levels=levels))
    with contextlib.suppress(InfeasibleError):
        fewest = _of_fewest_messages(near, target)
        if fewest.messages_per_user < best.messages_per_user:
            return fewest
    return best


def _unreached(question: Question, searched: str) -> InfeasibleError:
    return InfeasibleError(
        f"No plan reaches target-error = {question.asked_error} with any {searched}, or raise target-error, the "
        "number of users or --limits copies-max."
    )
