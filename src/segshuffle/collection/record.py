"""A record of a plan for OpenDP's registry of deployments: YAML with its fields, and TODO where a person has to write.

The fields are those of `schemas/deployments-schema.yaml` in github.com/opendp/deployments-registry-data, of July 2026.
"""

from pathlib import Path
from typing import Any

from segshuffle.digits import rounded_up
from segshuffle.errors import ParameterError
from segshuffle.extras import require
from segshuffle.files import write_atomically
from segshuffle.plans.plan import Plan

_DIGITS = 6


def save_record(plan: Plan, path: Path | str) -> None:
    """Write the record of a plan to a file.

    Raises
    ------
    ParameterError
        If nothing is proven for the plan.
    MissingExtraError
        Without PyYAML.
    """
    require("pipeline", "A record", "yaml")
    import yaml

    write_atomically(path, yaml.safe_dump(record(plan), sort_keys=False, allow_unicode=True, width=100))


def record(plan: Plan) -> dict[str, Any]:
    """Return the record; it tells the guarantee of the highest level, and that of every level in words."""
    problem = plan.problem
    if not plan.certificate:
        raise ParameterError("plan", plan.method, "a plan with proven numbers")
    assumed, scheme = problem.assumptions, plan.scheme
    deltas = {row["epsilon"]: rounded_up(row["delta_upper"], _DIGITS) for row in plan.certificate}
    size = f"{assumed.sets.replace('-', ' ')} {problem.set_size} of {problem.domain_size} items"
    rounds = assumed.rounds
    together = "one collection" if rounds == 1 else f"{rounds} collections together"
    copies = ", ".join(
        f"{copies:g} at level {level:g}" for level, copies in zip(problem.levels, scheme.copies, strict=True)
    )
    return {
        "url_slug": "todo",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": "TODO",
                "data_curators": ["TODO"],
                "intended_use": "TODO",
                "data_product_type": "Summary statistics",
                "data_product_region": "TODO",
                "description": f"How many of {problem.n_users} users hold each of {problem.domain_size} items. TODO",
                "publication_date": "1900-01-01",
            },
            "dp_variant": {
                "variant_name": "Approximate DP",
                "data_domain": f"A set of {size} for each user.",
                "unprotected_quantities": "The list of items, and how many users picked each privacy level.",
            },
            "privacy_loss": {
                "privacy_unit": "User-level" if rounds == 1 else f"User-level, {together}",
                "privacy_unit_details": f"Neighbours differ in the whole set of one user ({size}), in {together}.",
                "privacy_parameters": {"epsilon": max(deltas), "delta": max(deltas.values())},
                "privacy_parameters_details": "By level: "
                + ", ".join(f"epsilon {epsilon:g} with delta {delta:g}" for epsilon, delta in deltas.items()),
            },
            "deployment_model": {
                "model_name": "Shuffle",
                "actors": "Users, whose programs add the noise; a shuffler, trusted to hide who sent what; a server, "
                f"not trusted. At least {problem.honest_users} of {problem.n_users} users must follow the protocol.",
                "release_type": "One release" if rounds == 1 else "Many releases",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "Counts of messages become unbiased estimates.",
                "composition": f"One proven bound for {together}.",
            },
            "implementation": {
                "mechanisms": f"Dummy messages {scheme.law.phrase} (law {scheme.law.name}, "
                f"{plan.blanket_per_user:g} per user on average); copies of a held item: {copies}.",
                "justification": "TODO",
            },
            "administrative": {"sources": "TODO", "registry_authors": ["TODO"]},
        },
    }
