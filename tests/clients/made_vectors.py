"""docs/verification.json: plans for verifiers in other languages, and in which interval their bounds must lie.

    PYTHONPATH=tests .venv/bin/python -m clients.made_vectors

Each plan is one that a certain wrong verifier would decide wrongly, or for which its bound would be too small.
"""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from given_plans import given_plan

from segshuffle import Assumptions, Problem, plan
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.collection.messages.verification import Exchange
from segshuffle.collection.planning.documents import save_plan
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.plans.targets import Target, certified_delta

FILE = Path(__file__).resolve().parents[2] / "docs/verification.json"
#: How much larger than delta a bound may be where the plan is accepted.
ROOM = 2e-3
THREE = Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6, Assumptions(sets="exactly"))
SIGNED = Signed(p=0.5, flood_p=0.1, flood=0.5)


def given(problem, copies, mean, law=None, cap=None):
    """Return a plan with so many dummies about every item."""
    m = mean * problem.domain_size / problem.n_users
    return given_plan(problem, copies, m, law, kind="upper", blanket_cap=cap)


def one(epsilon, delta, *, domain_size=10, set_size=1, **assumed):
    """Return the problem of 1,000 users with one level."""
    return Problem(domain_size, set_size, (epsilon,), (1000,), delta, Assumptions(**assumed))


def changed(made, **assumed):
    """Return a plan that promises more than it was made for."""
    problem = replace(made.problem, assumptions=replace(made.problem.assumptions, **assumed))
    return replace(made, problem=problem, kind="upper")


def plans():
    """Map names to plans."""
    three, crowded = plan(THREE), plan(one(1.0, 1e-5, domain_size=5, set_size=4, sets="exactly"))
    capped = plan(one(1.0, 1e-5, set_size=2), blanket_cap="auto")
    return {
        "three levels": three,
        "promised for seven rounds, made for one": changed(three, rounds=7),
        "promised for 90 % honest users, made for all": changed(three, honest_fraction=0.9),
        "sets of at most 4 of 5 items, made for exactly 4": changed(crowded, sets="at-most"),
        "sets of exactly 4 of 5 items": crowded,
        "one copy among few dummies: the empty counter gives it away": given(one(8.0, 1e-3), (1.0,), 5.0),
        "one and a half copies": given(one(1.0, 1e-4), (1.5,), 60.0),
        "two and a half copies": given(one(1.0, 1e-3), (2.5,), 130.0),
        "a cap": capped,
        "a cap that is often exceeded": given(one(1.0, 1e-3), (1.0,), 200.0, cap=3),
        "clusters": given(one(1.0, 1e-4, set_size=2), (0.75,), 20.0, Clustered(0.5)),
        "few clusters: one loss is just above epsilon": given(
            one(0.25, 2e-6), (0.009200007724,), 0.0337925046, Clustered(0.032687)
        ),
        "signs": given(one(2.0, 0.01, set_size=2), (1.0,), 16.0, SIGNED),
    }


def entry(name, made, folder):
    """Return what the file has about a plan."""
    path, problem, scheme = Path(folder) / "plan.json", made.problem, made.scheme
    save_plan(made, path)
    mean, levels = problem.honest_mean(scheme.blanket_per_user), []
    for epsilon, delta, copies in zip(problem.levels, problem.deltas, scheme.copies, strict=True):
        lower, _ = certified_delta(scheme.law, mean, Target(problem.pairs, epsilon, delta), copies)
        upper = Exchange(scheme, problem, copies).delta(epsilon, delta)
        accepted = upper <= delta
        most = max(upper * (1 + ROOM), upper + ROOM * delta)
        # the last digits of a bound differ between processors
        bound = [rounded_down(lower), rounded_up(min(delta, most)) if accepted else 1.0]
        levels.append({"accepted": accepted, "bound": bound})
    return {"name": name, "plan": json.loads(path.read_text(encoding="utf-8")), "levels": levels}


def entries():
    """Return all entries of the file."""
    with tempfile.TemporaryDirectory() as folder:
        return [entry(name, made, folder) for name, made in plans().items()]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in entries())
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
