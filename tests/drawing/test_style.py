"""Grids of panels, legends that fit, axes with numbers; and a reader who notices when they are not."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from reader import shape

from segshuffle.drawing.style import (
    letters,
    log_ticks,
    panel_grid,
    plain,
    save,
)


@pytest.fixture(autouse=True)
def every_figure_is_closed():
    yield
    plt.close("all")


def test_letters_go_on_after_z():
    first = list(itertools.islice(letters(), 26 + 27))
    assert "".join(first[:26]) == "abcdefghijklmnopqrstuvwxyz"
    assert first[26:28] == ["aa", "ab"]
    assert first[-1] == "ba"


@pytest.mark.parametrize(("count", "columns", "rows"), [(1, 1, 1), (3, 2, 2), (4, 2, 2)])
def test_a_grid_has_as_many_panels_as_asked_for(count, columns, rows):
    figure, axes = panel_grid(count, height=1.5)
    assert axes == figure.axes
    assert len(axes) == count
    assert shape(figure) == (rows, columns)
    assert list(figure.get_size_inches()) == [7.0, 1.5 * rows + 0.9], "as wide as a page's text, and a legend below"


@pytest.fixture(scope="module")
def ticks_of():
    """Return a function from the limits of a logarithmic axis to its ticks."""
    axes = plt.figure().add_subplot(xscale="log")

    def found(low, high):
        axes.set_xlim(low, high)
        log_ticks(axes.xaxis)
        return axes.xaxis.get_major_locator().locs.tolist()

    return found


@given(low=st.floats(1e-8, 1e6), ratio=st.floats(1.001, 1e8))
def test_a_logarithmic_axis_has_two_numbers_or_more(ticks_of, low, ratio):
    ticks = ticks_of(low, low * ratio)
    assert 2 <= len(ticks) <= 8
    assert ticks == sorted(set(ticks))
    assert low * (1 - 1e-2) <= ticks[0]
    assert ticks[-1] <= low * ratio * (1 + 1e-2)
    if ratio > 1.01:
        assert len({plain(tick) for tick in ticks}) == len(ticks)


def test_a_watermark_crosses_the_middle_of_quick_figures_only_and_hides_nothing(tmp_path):
    figure, _ = panel_grid(1, height=2.0)
    save(figure, [tmp_path / "x.png"], "full")
    assert figure.texts == []
    figure, _ = panel_grid(1, height=2.0)
    save(figure, [tmp_path / "x.png"], "quick")
    (mark,) = figure.texts
    middle = figure.bbox.size / 2
    box = mark.get_window_extent()
    assert (box.p0 + box.p1) / 2 == pytest.approx(middle, rel=0.02)
    assert mark.get_alpha() < 0.2
