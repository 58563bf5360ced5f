"""What the studies declare: where it is shown, what a run makes unasked, and tables of settings that never change."""

import pytest

from segshuffle.pipeline import manifest
from segshuffle.pipeline.scenarios import scenarios


@pytest.fixture(params=["full", "quick"])
def targets(request):
    config = request.getfixturevalue(f"{request.param}_config")
    return request.param, manifest.targets(config, scenarios(config))


def test_groups_are_shown_in_the_order_of_the_story(targets):
    """First verdicts, then the paper's figures, what its guarantee is worth, what is proven, and last the referee."""
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


def words_of(config, name):
    panels = scenarios(config)
    (found,) = (output for output in manifest.outputs(manifest.targets(config, panels)).values() if output.name == name)
    return found


def test_a_figure_says_whom_its_proof_relies_on_and_every_delta_of_its_own(full_config):
    full_config["proven"]["honest_fraction"] = 0.75
    full_config["delta_times_n"] = [0.02, 0.01, 0.04]
    relied = " The proven guarantees rely on 75% of the users, the published ones on all."
    for name in ("fig2-proven", "messages-proven"):
        figure = words_of(full_config, name)
        assert relied in figure.caption
        assert "δ = 0.02, 0.01, 0.04/n." in figure.caption
    for name in ("fig2", "summary"):
        figure = words_of(full_config, name)
        assert relied not in figure.caption
        # published analyses know of one delta: the least
        assert "δ = 0.01/n." in figure.caption


def test_a_run_without_the_papers_panels_calls_its_figures_its_own(full_config):
    full_config["splits"] = {"S7": [0.25, 0.5, 0.25]}
    full_config["pareto"]["split"] = "S7"
    figure = words_of(full_config, "panels-msnbc-S7")
    assert (figure.title, figure.group.short) == ("MSNBC, split S7", "Published protocol")
    assert (figure.group.id, figure.group.rank) == ("figures", 1)
    assert words_of(full_config, "panels-msnbc-S7-proven").group.short == "Proven protocol"
