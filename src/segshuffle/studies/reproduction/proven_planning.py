"""Plans of the proven protocols: ours with and without copies, its sound predecessor, competitors and curators."""

from __future__ import annotations

from segshuffle.pipeline.design import Config, Setting, blanket_grid
from segshuffle.protocols.base import Method, Problem
from segshuffle.protocols.poisson import PoissonSegmented
from segshuffle.protocols.registry import proven_curves, proven_methods
from segshuffle.studies.reproduction.planning import Plans, problem_of


def curve_methods(config: Config) -> dict[str, PoissonSegmented]:
    """Methods drawn over m."""
    curves = proven_curves(config["tight"])
    return {name: method for name, method in curves.items() if isinstance(method, PoissonSegmented)}


def point_methods() -> dict[str, Method]:
    """Methods with one number per scenario: the competitors with proven accounting, and the curators."""
    return proven_methods()


def plan_tight(config: Config, setting: Setting) -> Plans:
    """All plans of a population, per split: over the grid of m, at the best m, within every budget of messages."""
    return {split: _plan_split(config, problem_of(config, setting, split)) for split in config["splits"]}


def _plan_split(config: Config, problem: Problem) -> Plans:
    curves, budgets = curve_methods(config), config["tight"]["max_messages"]
    plans: Plans = {"grid": {}, "best": {}, "budget": {}}
    for name, method in curves.items():
        plans["grid"][name] = [method.plan_at(problem, m).as_dict() for m in _grid(config, problem)]
        if name != "tight-copies":
            plans["best"][name] = method.plan(problem).as_dict()
        if name != "sound-group":
            plans["budget"][name] = {
                repr(float(budget)): _within(method, budget).plan(problem).as_dict() for budget in budgets
            }
    for name, competitor in point_methods().items():
        plans["best"][name] = competitor.plan(problem).as_dict()
    return plans


def _grid(config: Config, problem: Problem) -> list[float]:
    """The reproduction's grid of m, where the blanket is large enough for the accountant."""
    return [m for m in blanket_grid(config) if problem.n_users * m / problem.domain_size >= 1e-3]


def _within(method: PoissonSegmented, budget: float) -> PoissonSegmented:
    return PoissonSegmented(copies_max=method.copies_max, max_messages=float(budget), accounting=method.accounting)
