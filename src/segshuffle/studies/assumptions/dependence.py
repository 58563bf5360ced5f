"""Bias and error where the levels that users pick depend on the items they hold.

A user's inclination is strength x (whether it holds the most frequent item, standardised) + sqrt(1 - strength^2) x a
standard normal number; the users with the least inclination get the lowest level, and so on. So the users by level are
those of the split, at strength 0 levels are at random, and at strength 1 all holders are at least as liberal as anybody
else. Plans are made from public numbers, before that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.population import Population
from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.seeds import stream
from segshuffle.protocols.base import Plan, Sample
from segshuffle.protocols.messages.dependence import bias_given_levels, copies_of, error_given_levels
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.studies.assumptions.panels import head
from segshuffle.studies.reproduction.planning import problem_of

STRENGTHS = tuple(round(0.1 * step, 1) for step in range(11))


def inclined_levels(holds: np.ndarray, counts: Sequence[int], strength: float, rng: np.random.Generator) -> IntArray:
    """Level number of every user; the users by level are `counts` exactly.

    Parameters
    ----------
    holds : ndarray of bool, shape (n_users,)
        Who holds the item that inclines to higher levels; some do and some do not.
    counts : sequence of int
        Users of each level.
    strength : float
        In [0, 1]: correlation of the inclination with holding the item.
    rng : numpy.random.Generator
        Source of the users' own part.
    """
    own = rng.standard_normal(holds.size)
    inclination = strength * (holds - holds.mean()) / holds.std() + math.sqrt(1 - strength**2) * own
    levels = np.empty(holds.size, dtype=np.int64)
    # ties, at strength 1, are broken at random
    levels[np.lexsort((own, inclination))] = np.repeat(np.arange(len(counts)), counts)
    return levels


def dependence_table(config: Config, panels: Sequence[Scenario], populations: Mapping[str, Population]) -> pd.DataFrame:
    """Bias of the most frequent item and error of all, exact and simulated, over the strength of the dependence.

    Parameters
    ----------
    config : dict
        Keys seed, repetitions, delta_times_n, levels, splits, proven.
    panels : sequence of (Scenario, Population)
        Who holds what.

    Returns
    -------
    DataFrame
        Columns of the panel, source, method, strength, item, frequency; bias_expected, bias_mean, bias_stderr of that
        item; mse_expected, mse_mean, mse_stderr. "expected" is the mean over the repetitions' levels of the exact
        value given them, "mean" that of the simulated estimates.
    """
    rows = []
    for panel in panels:
        population = populations[panel.setting.id]
        problem = problem_of(config, panel.setting, panel.split, "proven")
        methods = [ProvenSegmented(), ProvenSegmented(equal_copies=True)]
        plans = [method.plan(problem) for method in methods]
        item = int(population.item_counts.argmax())
        for strength in STRENGTHS:
            held = _levels_held(config, panel, population, item, strength)
            for method, plan in zip(methods, plans, strict=True):
                rng = stream(config["seed"], "protocol", "dependence", panel.id, method.name, repr(strength))
                sample = Sample(population.items, population.domain_size, held)
                rows.append(
                    {
                        **head(panel),
                        "source": population.source,
                        "method": method.name,
                        "strength": strength,
                        "item": item,
                        "frequency": float(sample.frequencies[item]),
                        **_moments(plan, sample, item, method.simulate(plan, sample, rng)),
                        "repetitions": sample.repetitions,
                    }
                )
    return pd.DataFrame(rows)


def _levels_held(config: Config, panel: Scenario, population: Population, item: int, strength: float) -> IntArray:
    """Users of each level that hold each item, shape (repetitions, n_levels, domain_size), the same for all methods."""
    counts = problem_of(config, panel.setting, panel.split, "proven").level_counts
    holds, d = (population.items == item).any(axis=1), population.domain_size
    held = np.empty((config["repetitions"], len(counts), d), dtype=np.int64)
    for repetition in range(config["repetitions"]):
        rng = stream(config["seed"], "dependent levels", panel.id, repr(strength), repetition)
        cells = inclined_levels(holds, counts, strength, rng)[:, None] * d + population.items
        held[repetition] = np.bincount(cells.ravel(), minlength=len(counts) * d).reshape(len(counts), d)
    return held


def _moments(plan: Plan, sample: Sample, item: int, estimates: FloatArray) -> dict[str, Any]:
    counts, copies = np.array(plan.problem.level_counts), copies_of(plan)
    expected = bias_given_levels(copies, sample.level_item_counts, counts)[:, item]
    errors = estimates - sample.frequencies
    squares = (errors**2).sum(axis=1)
    exact = error_given_levels(plan, sample.level_item_counts, float(counts @ copies))
    return {
        "bias_expected": float(expected.mean()),
        "bias_mean": float(errors[:, item].mean()),
        "bias_stderr": _standard_error(errors[:, item]),
        "mse_expected": float(exact.mean()),
        "mse_mean": float(squares.mean()),
        "mse_stderr": _standard_error(squares),
    }


def _standard_error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / math.sqrt(values.size))
