"""Plans of a setting: every parameter of every method, from public quantities only."""

from __future__ import annotations

from typing import Any

import joblib

from segshuffle.pipeline.design import Config, Setting, blanket_grid, level_counts
from segshuffle.pipeline.progress import parallel
from segshuffle.protocols.base import Method, Problem
from segshuffle.protocols.registry import competitor
from segshuffle.protocols.segmented import least_blankets, optimize_parameters, sampling_rates

Plans = dict[str, Any]


def problem_of(config: Config, setting: Setting, split: str) -> Problem:
    """Public quantities of a scenario."""
    return Problem(
        domain_size=setting.domain_size,
        set_size=setting.set_size,
        levels=tuple(config["levels"]),
        level_counts=level_counts(setting.n_users, config["splits"][split]),
        delta=config["delta_times_n"] / setting.n_users,
    )


def method_of(config: Config, name: str) -> Method:
    """Return the competitor of that name with the configuration's options."""
    return competitor(name, config["competitors"])


def plan_setting(config: Config, setting: Setting, *, n_jobs: int = 1) -> Plans:
    """All plans of a population: no data is looked at.

    Returns
    -------
    dict
        ``rates``: sampling rates over the grid of m (they depend on the levels, not on the split);
        ``least_blankets``: m_k of every level; ``optimum`` and ``competitors`` per split.
    """
    grid = blanket_grid(config)
    splits = list(config["splits"])
    problems = {split: problem_of(config, setting, split) for split in splits}
    any_problem = problems[splits[0]]
    jobs: list[Any] = [joblib.delayed(sampling_rates)(any_problem, blanket) for blanket in grid]
    jobs += [joblib.delayed(optimize_parameters)(problems[split]) for split in splits]
    names = list(config["competitors"]["methods"])
    jobs += [joblib.delayed(method_of(config, name).plan)(problems[split]) for split in splits for name in names]
    done = iter(parallel(jobs, n_jobs, f"plans of {setting.id}"))
    rates = [next(done) for _ in grid]
    optima = {split: next(done).as_dict() for split in splits}
    others = {split: {name: next(done).as_dict() for name in names} for split in splits}
    return {
        "setting": setting.id,
        "blanket_per_user": grid,
        "rates": rates,
        "least_blankets": least_blankets(any_problem),
        "optimum": optima,
        "competitors": others,
    }
