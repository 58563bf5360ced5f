"""Problems with one best number of single dummies, and the errors of other numbers."""

import functools
import math
from dataclasses import replace

import numpy as np

from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.plans.plan import PLAIN, Assumptions, Problem
from segshuffle.protocols.proven import ProvenSegmented

AT_MOST = Assumptions("at-most")
PROBLEMS = {
    "whole copies": (Problem(17, 4, (1.0,), (5000,), 2e-6, PLAIN), 1.0),
    "many copies": (Problem(17, 1, (1.0,), (5000,), 2e-6, PLAIN), 8.0),
    # less than one dummy per item: the copies have kinks at all numbers of dummies
    "few dummies": (Problem(846_987, 1, (0.131,), (17_146,), 1.330182573841821e-08, PLAIN), 1.0),
    "nearly certain": (Problem(4912, 1, (5.06,), (540,), 1.85e-5, AT_MOST), 64.0),
    "several levels": (Problem(100, 3, (0.5, 1.0, 4.0), (500, 3000, 800), 1e-6, AT_MOST), 2.0),
}


def errors(method, problem, numbers):
    """Return the errors of plans with given numbers of dummies, as far as there are such plans."""
    for number in numbers:
        try:
            yield replace(method, blanket_per_user=float(number)).plan(problem).mse_bound
        except (InfeasibleError, ParameterError):
            yield math.inf


def method_of(name):
    return ProvenSegmented(copies_max=PROBLEMS[name][1])


@functools.cache
def plan_of(name):
    return method_of(name).plan(PROBLEMS[name][0])


def least_nearby(method, problem, number):
    """Return the least error of other numbers of dummies, everywhere and close by."""
    factors = np.concatenate([np.geomspace(3e-2, 10, 20), np.linspace(0.95, 1.05, 7)])
    return min(errors(method, problem, number * factors))


@functools.cache
def least_of_others(name):
    return least_nearby(method_of(name), PROBLEMS[name][0], plan_of(name).blanket_per_user)
