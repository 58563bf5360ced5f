"""Verdicts on the paper's statements under every combination of the choices that its text leaves open.

Errors are closed forms, so nothing is simulated. docs/deviations.md says what the text says about every choice.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pandas as pd

from segshuffle.plans.method import Method
from segshuffle.plans.plan import Plan, Problem
from segshuffle.plans.registry import every, made
from segshuffle.protocols.segmented import Segmented
from segshuffle.reproduction.data import population
from segshuffle.reproduction.design import Config, blanket_grid, grid_of
from segshuffle.reproduction.scenarios import settings
from segshuffle.reproduction.studies.claims.report import POPULATIONS, evaluate
from segshuffle.reproduction.studies.planning import Plans, problem_of
from segshuffle.reproduction.studies.readings.choices import CHOICES, READINGS
from segshuffle.reproduction.studies.verdicts import NOT, PARTLY, REPRODUCED, Statements

#: File of the competitors whose analysis and weights are among the choices.
_BALLS_INTO_BINS = "balls_into_bins"


def verdicts(
    config: Config, statements: Statements, data: Mapping[str, Mapping[str, Any]], plans: Mapping[str, Plans]
) -> pd.DataFrame:
    """Judge every statement under every reading.

    Parameters
    ----------
    config : dict
        The configuration; of its datasets only the paper's are used.
    statements : list of dict
        As `claims.report.evaluate` takes them.
    data : mapping
        Dataset -> its rows (``data``) and where they came from (``source``), for datasets that are not generated.
    plans : mapping
        Setting -> plans of the paper's protocol that `plan_setting` made. What is not there is planned here.

    Returns
    -------
    DataFrame
        A row per reading, that with most statements reproduced first: its choices, whether it is ours, how many
        statements came out how, and a column with the verdict on each statement.
    """
    errors = pd.DataFrame(_errors(config, data, plans))
    rows = []
    for reading in READINGS:
        chosen = errors
        for key in ("analysis", "weight_users", "padding"):
            # rows that do not depend on the choice have ""
            chosen = chosen[chosen[key].isin(["", reading[key]])]
        judged = evaluate(chosen.assign(mse_expected=chosen[reading["error"]]), statements, config)
        verdict = judged.set_index("id")["verdict"]
        counts = verdict.value_counts().reindex([REPRODUCED, PARTLY, NOT], fill_value=0)
        rows.append({**reading, "ours": reading == READINGS[0], **counts, **verdict})
    return pd.DataFrame(rows).sort_values([REPRODUCED, PARTLY, "ours"], ascending=False, kind="stable")


def _errors(
    config: Config, data: Mapping[str, Mapping[str, Any]], plans: Mapping[str, Plans]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the paper's panels for every padding, with a column for each choice of `error`."""
    for name, section in config["datasets"].items():
        if name not in POPULATIONS:
            continue
        for padding in CHOICES["padding"] if "padding" in section else ("",):
            padded = {**section, "padding": padding}
            for setting in settings({"datasets": {name: padded}}):
                users = population(**data.get(name, {}), setting=setting, section=padded, seed=config["seed"])
                shares = users.item_counts / users.n_users
                of_drawing = float(shares @ (1 - shares)) / users.n_users
                # dummy items are no part of the domain that the paper names
                size = setting.domain_size - setting.set_size * (padding == "dummy")
                own = {**setting._asdict(), "domain_size": size, "source": users.source, "padding": padding}
                # plans are for the padding of the configuration
                known = plans.get(setting.id, {}) if padding == section.get("padding", "") else {}
                for split, (role, chosen, method) in product(config["splits"], _methods(config, setting.dataset)):
                    plan = _plan(method, problem_of(config, setting, split), known.get(split, []))
                    expected = method.expected_mse(plan, users.item_counts)
                    yield {
                        "accounting": "published",
                        **own,
                        "split": split,
                        "method": method.name,
                        "role": role,
                        "blanket_per_user": plan.blanket_per_user,
                        "messages_per_user": plan.messages_per_user,
                        **chosen,
                        "users": expected,
                        "distribution": expected + of_drawing,
                        "bound": plan.mse_bound,
                    }


def _plan(method: Method, problem: Problem, points: list[dict[str, Any]]) -> Plan:
    """Find the plan of the paper's protocol at this m, or make a plan."""
    for point in points:
        if isinstance(method, Segmented) and method.blanket_per_user == point["plan"]["blanket_per_user"]:
            return Plan.from_dict(problem, point["plan"])
    return method.plan(problem)


def _methods(config: Config, dataset: str) -> Iterator[tuple[str, dict[str, str], Method]]:
    """Yield role, choices and method: the paper's protocol on the grid of m, and its competitors."""
    neither = {"analysis": "", "weight_users": ""}
    for blanket in blanket_grid(grid_of(config, dataset)):
        yield "grid", neither, Segmented(blanket)
    for name in config["competitors"]["methods"]:
        entry = every()["published", name]
        if entry.file != _BALLS_INTO_BINS:
            yield "best", neither, made(entry, config["competitors"])
            continue
        for analysis, users in product(CHOICES["analysis"], CHOICES["weight_users"]):
            chosen = {"analysis": analysis, "weight_users": users}
            yield "best", chosen, made(entry, config["competitors"], chosen)
