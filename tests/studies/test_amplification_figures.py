"""Amplification figures: the same bytes every time, honest labels, one look per accountant that survives grey."""

import re

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.accountants.registry import ACCOUNTANT_LOOKS
from segshuffle.pipeline.style import save
from segshuffle.studies.amplification.figure import draw


@pytest.fixture(autouse=True)
def every_figure_is_closed():
    before = plt.get_fignums()
    yield
    assert plt.get_fignums() == before


def table(*, accountants=("blanket", "blanket-lower", "standard-clone"), curves=("one",), panels=("p", "q")):
    rows = [
        {
            "panel": panel,
            "curve": curve,
            "accountant": accountant,
            "x_name": "local_epsilon",
            "x": x,
            "y_name": "epsilon",
            "y": x / (10 + i + j),
        }
        for panel in panels
        for i, accountant in enumerate(accountants)
        for j, curve in enumerate(curves)
        for x in (0.1, 1.0, 5.0)
    ]
    return pd.DataFrame(rows)


def svg(figure, folder, name="x.svg"):
    save(figure, [folder / name])
    return (folder / name).read_text(encoding="utf-8")


def texts(drawn):
    return ["".join(re.sub(r"<[^>]*>", "", text).split()) for text in re.findall(r"<text.*?</text>", drawn, re.DOTALL)]


def test_every_accountant_has_a_look_of_its_own():
    assert set(ACCOUNTANTS) <= set(ACCOUNTANT_LOOKS)
    # without colour, marks and dashes tell the curves apart, but for those that are never in one figure
    apart = [name for name in ACCOUNTANT_LOOKS if not name.startswith(("separate", "parallel", "gparv"))]
    strokes = [(ACCOUNTANT_LOOKS[name].marker, ACCOUNTANT_LOOKS[name].dashes) for name in apart]
    assert len(set(strokes)) == len(strokes)
    for name in ("blanket", "standard-clone"):
        assert ACCOUNTANTS[name].kind == "upper"
        assert "proven" in ACCOUNTANT_LOOKS[name].label
    for name, accountant in ACCOUNTANTS.items():
        if accountant.kind == "published" and name in ACCOUNTANT_LOOKS:
            assert "proven" not in ACCOUNTANT_LOOKS[name].label, name


@pytest.mark.quick(0)
def test_quick_is_written_across(tmp_path):
    assert ">quick<" in svg(draw("decomposition2", table(), edition="quick"), tmp_path)


@pytest.mark.exhaustive
def test_the_same_bytes_every_time(tmp_path):
    paths = [[tmp_path / f"{i}.{suffix}" for suffix in ("pdf", "svg", "png")] for i in range(2)]
    for each in paths:
        save(draw("variation1", table(), edition="full"), each)
    for one, two in zip(*paths, strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_a_second_curve_of_an_accountant_is_named_and_open():
    figure = draw("decomposition3", table(curves=("2-joint", "single")), edition="full")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "Blanket, numerical (proven): composed" in labels
    assert "Blanket, numerical (proven): one randomizer alone" in labels
    faces = {line.get_markerfacecolor() for line in figure.axes[0].lines if line.get_marker() == "o"}
    assert faces == {ACCOUNTANT_LOOKS["blanket"].color, "white"}
    plt.close(figure)


def test_mechanisms_have_colours_and_accountants_strokes():
    chosen = table(accountants=("blanket", "blanket-lower"), curves=("one", "two"))
    figure = draw("decomposition4", chosen, edition="full")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["one", "two", "Blanket, numerical (proven)", "Lower bound, two datasets (proven)"]
    assert len({line.get_color() for line in figure.axes[0].lines}) == 2
    plt.close(figure)


def test_a_bound_outside_its_conditions_is_not_called_proven():
    chosen = table(accountants=("standard-clone", "theorem"), curves=("largest budget",))
    figure = draw("personalized4", chosen, edition="full")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "Standard clone, largest budget" in labels
    assert not any("proven" in label for label in labels)
    plt.close(figure)
