"""What readers are told of the files of a run: the captions.yaml beside each study."""

import pytest

from segshuffle.errors import ConfigError
from segshuffle.reproduction.captions import Captions


def test_a_figure_says_whom_its_proof_relies_on_and_every_delta_of_its_own(full_config):
    full_config["proven"]["honest_fraction"] = 0.75
    full_config["delta_times_n"] = [0.02, 0.01, 0.04]
    captions = Captions(full_config)
    relied = " The proven guarantees rely on 75% of the users, the published ones on all."
    for name in ("fig2-proven", "messages-proven"):
        figure = captions.of(f"figures/{name}.svg")
        assert relied in figure.caption
        assert "δ = 0.02, 0.01, 0.04/n." in figure.caption
    for name in ("fig2", "summary"):
        figure = captions.of(f"figures/{name}")
        assert relied not in figure.caption
        # published analyses know of one delta: the least
        assert "δ = 0.01/n." in figure.caption


def test_panels_that_the_paper_does_not_show_have_figures_of_their_own(full_config):
    full_config["splits"]["S4"] = [0.2, 0.4, 0.4]
    captions = Captions(full_config)
    assert captions.of("figures/panels-msnbc-S4").title == "MSNBC, split S4"
    assert captions.of("figures/panels-msnbc-S4-proven").title == "MSNBC, split S4, with proven accounting"
    assert captions.of("figures/fig4").title == "Figure 4: MSNBC, split S2 and S3"


def test_a_run_without_the_papers_panels_calls_its_figures_its_own(full_config):
    full_config["splits"] = {"S7": [0.25, 0.5, 0.25]}
    own, proven = (Captions(full_config).of(f"figures/panels-msnbc-S7{each}").group for each in ("", "-proven"))
    assert (own.short, own.rank, proven.short) == ("Published protocol", 1, "Proven protocol")


def test_a_file_that_no_study_names_is_refused(full_config):
    with pytest.raises(ConfigError, match=r"figures/farewell: no captions\.yaml says what this is\. Add it"):
        Captions(full_config).of("figures/farewell.svg")
