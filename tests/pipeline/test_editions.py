"""What is said of results that are not the shipped configuration's."""

import pytest
from matplotlib.figure import Figure

from segshuffle.pipeline.editions import remark
from segshuffle.pipeline.style import mark_edition


@pytest.mark.parametrize(
    ("edition", "said", "across"),
    [("full", "", []), ("quick", "is not a result", ["quick"]), ("baskets", "edition **baskets**, with data", [])],
)
def test_only_a_quick_run_is_no_result(edition, said, across):
    assert said in remark(edition)
    assert bool(remark(edition)) == bool(said)
    figure = Figure()
    mark_edition(figure, edition)
    assert [text.get_text() for text in figure.texts] == across
