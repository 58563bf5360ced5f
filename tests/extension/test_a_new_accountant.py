"""An accountant of one message is one file: asked for, held against proven bounds, and drawn."""

import pandas as pd
import pytest


@pytest.mark.exhaustive
def test_it_is_judged_drawn_and_on_the_page(extended):
    """Half of the local guarantee is less than what one user has: the referee refutes it."""
    verdicts = pd.read_csv(extended.out / "referee-verdicts.csv").set_index("accountant").loc["half-of-it"]
    assert "violated" in set(verdicts["verdict"])
    assert set(verdicts["kind"]) == {"published"}
    assert "half-of-it" in (extended.out / "referee.md").read_text(encoding="utf-8")
    assert "Half of the local guarantee" in (extended.out / "figures/referee.svg").read_text(encoding="utf-8")
    page = (extended.out / "index.html").read_text(encoding="utf-8")
    assert "half-of-it on krr" in page, "in the words of the figure"


@pytest.mark.exhaustive
def test_the_command_line_answers_for_it(extended):
    asked = ["account", "--randomizer", "krr", "--local-epsilon", "1", "--domain-size", "3", "--users", "1000"]
    said = extended.python(f"from segshuffle.cli import main; main({[*asked, '--delta', '1e-6']!r})")
    assert "half-of-it" in said
