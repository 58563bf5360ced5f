"""What the studies declare: where it is shown, what a run makes unasked, and tables of settings that never change."""

import dataclasses
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import segshuffle.pipeline
import segshuffle.studies
from segshuffle.pipeline import manifest
from segshuffle.pipeline.scenarios import scenarios
from segshuffle.studies.assumptions import dependence
from segshuffle.studies.levels import compute as levels


@pytest.fixture(params=["full", "quick"])
def targets(request):
    config = request.getfixturevalue(f"{request.param}_config")
    return request.param, manifest.targets(config, scenarios(config))


def test_groups_are_shown_in_the_order_of_the_story(targets):
    """The paper's figures, what its guarantee is worth, what is proven instead, what that costs; the referee last."""
    groups = {output.group for output in manifest.outputs(targets[1]).values()}
    assert {group.id: group.rank for group in groups} == {
        "overview": -1,
        "verdicts": 0,
        "figures": 1,
        "audit": 2,
        "proven": 3,
        "limit": 4,
        "levels": 5,
        "pareto": 5,
        "assumptions": 6,
        **{f"amplification-{paper}": 6 for paper in ("decomposition", "variation", "personalized")},
        "referee": 9,
    }


def test_the_page_reads_tables_of_all_cases_and_not_their_parts(targets):
    read = {output.path for output in manifest.outputs(targets[1]).values() if output.on_page}
    populations = {path for path in read if path.startswith("levels/")}
    assert read - populations == {
        "mse.csv",
        "claims.csv",
        "proven-summary.csv",
        "audit.csv",
        "limit.csv",
        "pareto-winners.csv",
        "referee-verdicts.csv",
        "amplification/claims.csv",
    }
    assert len(populations) == {"full": 6, "quick": 2}[targets[0]]


def test_what_a_run_makes_unasked(targets):
    """A quick run samples the amplification papers; single figures of the panels are part of another target."""
    edition, found = targets
    left_out = {target.name for target in found if not target.in_all}
    panels = {"fig2", "fig3", "fig4", "fig5", "fig6", "summary", "messages_proven"}
    panels |= {f"fig{number}_proven" for number in range(2, 7)}
    names = {target.name for target in found}
    alone = {name for name in names if name.startswith(("fig_decomp", "fig_var", "fig_pers", "table_"))}
    assert len(alone) == 15
    unasked = {"fig_decomposition8", "table_variation5"}
    quick = {"amplification"} if edition == "quick" else set()
    assert left_out == (panels & names) | (alone - unasked) | quick


def classes():
    for package in (segshuffle.studies, segshuffle.pipeline):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            loaded = importlib.import_module(module.name)
            for _, found in inspect.getmembers(loaded, inspect.isclass):
                if found.__module__ == module.name and dataclasses.is_dataclass(found):
                    yield found


def test_what_is_asked_and_planned_never_changes():
    """Cases, points and panels are shared by processes and kept in tables: nobody may alter one."""
    found = list(classes())
    assert len(found) >= 9
    for each in found:
        assert each.__dataclass_params__.frozen, each


@pytest.mark.parametrize("study", [dependence, levels], ids=lambda study: study.__name__.split(".")[-2])
def test_standard_errors_are_those_of_a_mean(study):
    """Squares about the mean 2 add up to 1 + 4 + 1 + 16 = 22 and 3 are free: the root of 22/3/4."""
    assert study._standard_error(np.array([1.0, 0.0, 1.0, 6.0])) == pytest.approx((22 / 3 / 4) ** 0.5, rel=1e-14)
