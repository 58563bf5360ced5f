"""Plans with given numbers: what they guarantee does not matter here. Also edited plans, and messages of all users."""

import hashlib
import json
from dataclasses import replace

import numpy as np

from segshuffle import simulate
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.poisson import POISSON
from segshuffle.collection.messages.message_lines import lines_of
from segshuffle.plans.plan import PLAIN, Plan, Problem, collection_of

#: One collection of the paper, and a small one.
MSNBC = Problem(
    domain_size=17, set_size=4, levels=(0.5, 1.0, 2.0), level_counts=(1250, 2500, 1250), delta=2e-6, assumptions=PLAIN
)
SMALL = Problem(
    domain_size=8, set_size=2, levels=(0.5, 1.0, 2.0), level_counts=(30, 50, 40), delta=1e-3, assumptions=PLAIN
)


def given_plan(problem, copies, blanket_per_user, law=None, *, kind="exact", blanket_cap=None, certificate=()):
    """Return a plan in which each level sends the given copies, among dummies of a law (None: Poisson)."""
    own = problem.set_size * float(np.dot(problem.level_counts, copies)) / problem.n_users
    whole = collection_of(problem, copies, blanket_per_user, law or POISSON)
    whole = replace(whole, announcement=replace(whole.announcement, blanket_cap=blanket_cap))
    made = {"collections": (whole,), "certificate": tuple(certificate)}
    return Plan("poisson", problem, kind, blanket_per_user, blanket_per_user + own, 1.0, **made)


def separate_plan(problem, blankets, weights, law=BINOMIAL, *, kind="published"):
    """Return a plan in which each level sends all items in a collection of its own, with given dummies and weight."""
    everything = (1.0,) * len(blankets)
    collections = tuple(
        collection_of(problem, everything, m, law, levels=(k,), weight=float(w))
        for k, (n, m, w) in enumerate(zip(problem.level_counts, blankets, weights, strict=True))
        if n
    )
    mean = float(np.dot(problem.level_counts, np.array(blankets, dtype=float))) / problem.n_users
    return Plan("sepmm", problem, kind, mean, mean + problem.set_size, 1.0, collections=collections)


def digest_of(values):
    """Return the digest of a plan's values, or of those of another file that has one (docs/collect.md)."""
    rest = {name: value for name, value in values.items() if name != "digest"}
    content = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode("ascii")).hexdigest()


def edited(path, *, signed=True, **changes):
    """Change the values of a plan's file, given by part, and its digest as docs/collect.md describes it."""
    values = json.loads(path.read_text(encoding="utf-8"))
    for part, change in changes.items():
        values[part] = {**values[part], **change} if isinstance(change, dict) else change
    if signed:
        values["digest"] = digest_of(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def sent_by(plan):
    """Return the lines of all users of a plan, who hold the first items."""
    counts = simulate(plan, [range(plan.problem.set_size)] * plan.problem.n_users, seed=1)
    return lines_of(np.repeat(np.arange(counts.size), counts).tolist(), plan.scheme)
