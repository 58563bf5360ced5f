"""An accountant of one message is one file: asked for, held against proven bounds, and drawn."""

import pandas as pd
import pytest
from extension_files import ACCOUNTANT

from segshuffle.accounting.single_message.accountants import every
from segshuffle.errors import ConfigError


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (dict.fromkeys(("one", "two"), ACCOUNTANT), r"two\.py: declares the accountant 'half-of-it'.*rename"),
        (
            {"broken": "import nowhere\nACCOUNTANTS = ()"},
            r"broken\.py: cannot be imported: .*nowhere",
        ),
    ],
)
def test_a_file_that_declares_no_accountant_of_its_own_is_named(package, files, said):
    with pytest.raises(ConfigError, match=said):
        every(package(**files))


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
