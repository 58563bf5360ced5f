"""What all rows of a table share, or that they do not."""

import pandas as pd
import pytest

from segshuffle.reproduction.rows import common

ROWS = pd.DataFrame({"n": [10, 10], "name": ["a", "a"], "x": [1.0, 2.0]})


def test_what_rows_share_keeps_its_type_and_the_order_asked_for():
    assert common(ROWS, "name", "n") == ("a", 10)
    assert f"{common(ROWS, 'n')[0]:,}" == "10"


@pytest.mark.parametrize("rows", [ROWS, ROWS[:0]], ids=["two values", "no rows"])
def test_rows_that_share_nothing_are_an_error(rows):
    with pytest.raises(ValueError, match="unpack"):
        common(rows, "x", "n")
