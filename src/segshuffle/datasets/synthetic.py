"""Synthetic users: uniformly random sets of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segshuffle.datasets.interface import ITEMS, Dataset, Section

if TYPE_CHECKING:
    from segshuffle.datasets.population import Population


def _population(*, section: Section, n_users: int, set_size: int, rng: Any, **_unused: Any) -> Population:
    from segshuffle.datasets.sampling import uniform_population

    return uniform_population(domain_size=section["domain_size"], set_size=set_size, n_users=n_users, rng=rng)


DATASET = Dataset(
    name="synthetic",
    label="Synthetic",
    keys={"domain_size": {"description": "Number of items", **ITEMS}},
    domain_size=lambda section, _set_size: int(section["domain_size"]),
    population=_population,
)
