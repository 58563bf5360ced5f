"""Plans with given numbers: what they guarantee does not matter where they are used."""

import numpy as np

from segshuffle.protocols.base import Plan


def given_plan(problem, copies, blanket_per_user, law=None, *, kind="exact", **more):
    """Users of each level send so many copies among dummies of this law, a Poisson number of single ones if None."""
    own = problem.set_size * float(np.dot(problem.level_counts, copies)) / problem.n_users
    parameters = {"copies": tuple(copies), "certificate": [], **more}
    if law is not None:
        parameters["blanket"] = law.as_dict()
    return Plan("poisson", problem, kind, blanket_per_user, blanket_per_user + own, parameters, 1.0)
