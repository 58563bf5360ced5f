"""Grids of panels, legends that fit, axes with numbers; and a reader who notices when they are not."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.ticker import NullFormatter
from reader import complaints, shape

from segshuffle.drawing.style import (
    finished,
    letters,
    log_ticks,
    panel_grid,
    panel_title,
    plain,
    save,
    use_style,
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


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        # powers of ten where there are three, or steps of which there are three
        (0.5, 2000.0, [1.0, 10.0, 100.0, 1000.0]),
        (0.5, 20.0, [1.0, 3.0, 10.0]),
        (1.0, 10.0, [1.0, 3.0, 10.0]),
        (1.5, 11.0, [2.0, 5.0, 10.0]),
        (1.2, 6.0, [1.5, 2.0, 3.0, 4.0, 5.0]),
        # equal distances where the finest steps have fewer
        (5.02, 5.31, [5.1, 5.2, 5.3]),
        (1.9, 3.2, [2.0, 2.5, 3.0]),
        (3.5, 9.5, [4.0, 5.0, 7.0]),
        # rounded off
        (0.5, 100.0 * (1 - 1e-11), [1.0, 10.0, 100.0]),
        (1.0 + 1e-11, 200.0, [1.0, 10.0, 100.0]),
        # nine are thinned out, eight are not
        (0.5, 2e8, [1.0, 1e2, 1e4, 1e6, 1e8]),
        (0.5, 2e7, [10.0**power for power in range(8)]),
        # every second of twelve
        (1e-8, 1.5e3, [1e-8, 1e-6, 1e-4, 1e-2, 1.0, 100.0]),
    ],
)
def test_numbers_of_a_logarithmic_axis(ticks_of, low, high, expected):
    assert ticks_of(low, high) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.02, "0.02"),
        (1.0, "1"),
        (5000.0, "5,000"),
        (1e6, "1e6"),
        (999_999.0, "999,999"),
        (2.5e-4, "2.5e-4"),
        (1e-3, "0.001"),
    ],
)
def test_ticks_are_plain_numbers(value, expected):
    assert plain(value) == expected


def drawn(labels, *, fit=True, limits=(0.1, 10.0)):
    figure, (axes,) = panel_grid(1, height=2.0, width=5.0)
    for i, label in enumerate(labels):
        axes.plot([0.1, 1.0, 10.0], [1.0 + i, 2.0, 3.0], label=label)
    axes.set(xscale="log", xlim=limits)
    handles, texts = axes.get_legend_handles_labels()
    if fit:
        log_ticks(axes.xaxis)
        finished(figure)
    else:
        figure.legend(handles, texts, loc="outside lower center", ncols=4)
    return figure


@pytest.mark.quick(1)
@pytest.mark.parametrize("length", [2, 20, 45])
def test_a_legend_is_as_wide_as_the_canvas_allows(length):
    labels = [f"{i}{'x' * length}" for i in range(5)]
    figure = drawn([*labels, labels[0]])
    assert complaints(figure) == []
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == labels, "once each"
    columns = {round(text.get_window_extent().x0) for text in legend.get_texts()}
    assert len(columns) == {2: 4, 20: 2, 45: 1}[length]


@pytest.mark.quick(0)
def test_a_reader_complains():
    assert complaints(drawn("ab")) == []
    wide = complaints(drawn([f"{i}{'x' * 30}" for i in range(4)], fit=False))
    assert any(text.startswith("outside the canvas: '0xxx") for text in wide)
    assert "the legend is wider than the canvas" in wide
    figure = drawn("ab", fit=False, limits=(2.0, 9.0))
    figure.axes[0].xaxis.set_minor_formatter(NullFormatter())
    few = complaints(figure)
    assert any(text.startswith("0 numbers on the x axis") for text in few)
    figure = drawn("ab")
    figure.axes[0].text(0.5, 0.5, "one", transform=figure.axes[0].transAxes)
    figure.axes[0].text(0.51, 0.5, "two", transform=figure.axes[0].transAxes)
    assert complaints(figure) == ["on each other: 'one' and 'two'"]
    figure, _ = panel_grid(2, height=2.0)
    assert complaints(figure) == ["nothing is drawn in ''"] * 2


@pytest.mark.parametrize(("columns", "width", "broken"), [(2, 7.0, False), (2, 6.4, True), (3, 9.6, True)])
def test_a_title_that_is_too_wide_has_two_lines(columns, width, broken):
    """The title takes 2.7 inches; 0.6 inches of a panel's share of the canvas are for the numbers beside it."""
    _, (axes, *_) = panel_grid(3, columns, height=2.0, width=width)
    panel_title(axes, "(a) Synthetic, S2", "$n$ = 50,000, $d$ = 128, $s$ = 8")
    assert ("\n" in axes.get_title()) == broken


def test_letters_are_as_wide_in_every_resolution():
    use_style()
    widths = []
    for dpi in (72, 100, plt.rcParams["savefig.dpi"]):
        text = plt.figure(dpi=dpi).text(0.0, 0.5, "Synthetic S1, n = 50,000, s = 4", fontsize=7.5)
        widths.append(text.get_window_extent().width / dpi)
    assert max(widths) / min(widths) < 1.01, "what the layout measures is what every file shows"


def test_a_file_has_all_that_is_drawn_and_little_around_it(tmp_path):
    figure, (axes,) = panel_grid(1, height=1.0, width=2.0)
    axes.plot([0.0, 1.0], [0.0, 1.0])
    figure.text(-0.5, 0.5, "beside the canvas")
    save(figure, [tmp_path / "x.png"])
    ink = plt.imread(tmp_path / "x.png")[..., :3].min(axis=2) < 0.9
    for margin in (ink, ink[::-1], ink.T, ink.T[::-1]):
        first = np.flatnonzero(margin.any(axis=1))[0]
        assert 0 < first < 0.1 * plt.rcParams["savefig.dpi"], "up to a tenth of an inch of white"


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
