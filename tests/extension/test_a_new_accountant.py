"""An accountant of one message is one file: asked for, held against proven bounds, and drawn."""

import pandas as pd
import pytest


@pytest.mark.exhaustive
def test_it_is_judged_drawn_and_on_the_page(extended):
    """It is in the referee's tables, in the figure with the label that the file declares, and on the page."""
    verdicts = pd.read_csv(extended.out / "referee-verdicts.csv")
    own = verdicts[verdicts["accountant"] == "half-of-it"]
    assert set(own["kind"]) == {"published"}
    assert (own["cells"] > 0).all()
    assert set(own["case"]) == set(verdicts.loc[verdicts["accountant"] == "standard-clone", "case"])
    assert "half-of-it" in extended.text("referee.md")
    assert "half-of-it" in extended.text("figures/referee.svg")
    page = extended.text("index.html")
    assert '<th scope="row">half-of-it</th>' in page


@pytest.mark.exhaustive
def test_the_command_line_answers_for_it(extended):
    asked = ["account", "--randomizer", "krr:domain-size=3", "--local-epsilon", "1", "--users", "1000"]
    said = extended.python(f"from segshuffle.cli import main; main({[*asked, '--delta', '1e-6']!r})")
    assert "half-of-it" in said
