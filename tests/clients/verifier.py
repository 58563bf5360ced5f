"""clients/verify.py as a module, plans to verify, and random saved plans."""

import importlib.util
import json
import random
from functools import cache
from pathlib import Path

from segshuffle import Assumptions, Problem, plan
from segshuffle.collection.planning.documents import save_plan

CLIENTS = Path(__file__).resolve().parents[2] / "clients"
#: Verifiers must accept a plan that promises this much more delta than is certified, as a share of what it promises.
CLOSE = 5e-4


def closest_promises(plan):
    """Return for every level a delta just above the certified one, which is the least that verifiers must accept."""
    promised = plan["problem"]["level_deltas"] or [plan["problem"]["delta"]] * len(plan["problem"]["levels"])
    certified = plan["plan"]["certificate"]
    return [each["delta_upper"] + CLOSE * delta for each, delta in zip(certified, promised, strict=True)]


@cache
def verifier():
    spec = importlib.util.spec_from_file_location("verify", CLIENTS / "verify.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def saved(path, problem, **asked):
    """Plan, save, and return what the file says."""
    save_plan(plan(problem, **asked), path)
    return json.loads(path.read_text(encoding="utf-8"))


def random_plan(seed, path):
    """Return a saved plan of any law with any assumptions; few have signs, which take long."""
    draw = random.Random(seed)
    asked = {"dummies": draw.choices(["poisson", "clustered", "signed"], [60, 35, 5])[0]}
    domain_size = draw.choice([2, 5, 17, 100, 1000])
    levels = tuple(sorted(draw.sample([0.1, 0.25, 0.5, 0.8, 1.0, 1.5, 2.0, 4.0], draw.choice([1, 1, 2, 3]))))
    assumptions = Assumptions(
        sets=draw.choice(["exactly", "at-most"]),
        honest_fraction=draw.choice([1.0, 1.0, 0.9, 0.5, 1 / 3]),
        rounds=draw.choice([1, 1, 1, 2, 7, 50]),
    )
    problem = Problem(
        domain_size=domain_size,
        set_size=min(draw.choice([1, 1, 2, 3, 4, 8]), domain_size - 1),
        levels=levels,
        level_counts=tuple(draw.choice([100, 1000, 5000, 20_000]) for _ in levels),
        delta=draw.choice([1e-3, 1e-6, 2e-6, 1e-9, 1e-12]),
        assumptions=assumptions,
    )
    if len(levels) > 1 and draw.random() < 0.3:
        deltas = (problem.delta, *(problem.delta * draw.choice([1, 2, 5]) for _ in levels[1:]))
        problem = Problem(*problem.sizes[:2], levels, problem.level_counts, problem.delta, assumptions, deltas)
    if asked["dummies"] == "poisson" and draw.random() < 0.6:
        asked["blanket_cap"] = "auto"
    if draw.random() < 0.4:
        asked["copies_max"] = draw.choice([2.5, 5.0])
    return saved(path, problem, **asked)
