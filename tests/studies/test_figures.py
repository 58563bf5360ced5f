"""Figures: the same bytes every time, honest labels, one look per method that survives a grey print."""

import re

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from segshuffle.datasets.registry import dataset_label
from segshuffle.pipeline.design import Scenario, Setting
from segshuffle.pipeline.style import save
from segshuffle.protocols.listed import competitor_names
from segshuffle.protocols.registry import every, look_of
from segshuffle.studies.reproduction.report import draw

GRID = (0.1, 1.0, 10.0)
#: Looks of the methods in Figures 2-6; the proven ones have figures of their own.
COMPETITORS = competitor_names()
LOOKS = {(accounting, name): look_of(name, accounting=accounting) for accounting, name in every()}
PAPER = {name: look_of(name) for name in ("segmented", *COMPETITORS)}


@pytest.fixture(autouse=True)
def every_figure_is_closed():
    before = plt.get_fignums()
    yield
    assert plt.get_fignums() == before


def rows_of(scenario, source, scale=1.0):
    """Made-up rows of one panel: our least error is 2, the competitors' are 3, 4, 5, ..."""
    setting = scenario.setting
    common = {
        "accounting": "published",
        "dataset": setting.dataset,
        "n_users": setting.n_users,
        "set_size": setting.set_size,
        "domain_size": setting.domain_size,
        "split": scenario.split,
        "source": source,
        "mse_stderr": 0.1,
    }
    rows = [("segmented", m, error, "grid") for m, error in zip(GRID, (6.0, 2.0, 4.0), strict=True)]
    rows.append(("segmented", 2.0, 1.5, "best"))
    rows += [(name, 0.0, 3.0 + i, "best") for i, name in enumerate(COMPETITORS)]
    return [
        {
            **common,
            "method": name,
            "blanket_per_user": m,
            "mse_mean": scale * error,
            "mse_expected": error,
            "role": role,
        }
        for name, m, error, role in rows
    ]


def panels_of(n, dataset="msnbc"):
    domain = {"msnbc": 17, "synthetic": 128}[dataset]
    return [Scenario(Setting(dataset, 5000 + i, 4, domain), "S1") for i in range(n)]


def table_of(scenarios, source="real"):
    return pd.DataFrame([row for scenario in scenarios for row in rows_of(scenario, source)])


def draw_figure(edition="full", n=2):
    scenarios = panels_of(n)
    return draw(table_of(scenarios), scenarios, "published", drawing="errors", edition=edition)


def draw_summary(edition="full", n=2):
    return draw(table_of(panels_of(n)), panels_of(n), "published", drawing="summary", edition=edition)


DRAWINGS = {"figure": draw_figure, "summary": draw_summary}


def svg_of(figure, folder):
    save(figure, [folder / "x.svg"])
    return (folder / "x.svg").read_text(encoding="utf-8")


def texts(svg):
    """Texts of an SVG without spaces: a title with mathematics is stored letter by letter."""
    return ["".join(re.sub(r"<[^>]*>", "", text).split()) for text in re.findall(r"<text.*?</text>", svg, re.DOTALL)]


@pytest.mark.quick(0)
@pytest.mark.parametrize("kind", DRAWINGS)
def test_the_same_numbers_give_the_same_bytes(tmp_path, kind):
    found = []
    for attempt in ("one", "two"):
        folder = tmp_path / attempt
        folder.mkdir()
        save(DRAWINGS[kind](), [folder / f"{kind}.{suffix}" for suffix in ("pdf", "svg", "png")])
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
        # a global setting that somebody left behind must not matter
        plt.rcParams["lines.linewidth"] = 7.0
    assert set(found[0]) == {f"{kind}.pdf", f"{kind}.svg", f"{kind}.png"}, "no temporary file is left"
    assert found[0] == found[1]
    assert found[0][f"{kind}.pdf"].startswith(b"%PDF")
    assert found[0][f"{kind}.png"].startswith(b"\x89PNG")
    assert not re.search(rb"CreationDate|ModDate|<dc:date>", b"".join(found[0].values()))


def test_only_a_stand_in_is_labelled_as_one():
    assert dataset_label("msnbc", "real") == "MSNBC"
    assert dataset_label("msnbc", "stand-in") == "MSNBC (stand-in)"
    assert dataset_label("synthetic", "synthetic") == "Synthetic"


@pytest.mark.quick(0)
@pytest.mark.parametrize("kind", DRAWINGS)
def test_quick_is_written_on_quick_figures_only(tmp_path, kind):
    assert "quick" in texts(svg_of(DRAWINGS[kind](edition="quick"), tmp_path))
    assert "quick" not in svg_of(DRAWINGS[kind](edition="full"), tmp_path)


# --- looks -------------------------------------------------------------------------------------------------------


def test_methods_are_told_apart_without_colour(full_config):
    """Colour, mark and dashes each do in the figures of the shipped configuration; else colour and mark together."""
    assert len({look.label for look in LOOKS.values()}) == len(LOOKS)
    shipped = [PAPER[name] for name in ("segmented", "inverse-variance-sepmm", *full_config["competitors"]["methods"])]
    for field in ("color", "marker", "dashes"):
        assert len({getattr(look, field) for look in shipped}) == len(shipped), field
    assert len({(look.color, look.marker) for look in PAPER.values()}) == len(PAPER)


# --- what is drawn -----------------------------------------------------------------------------------------------


def test_an_optimum_outside_the_grid_is_not_drawn():
    scenarios = panels_of(1)
    table = table_of(scenarios)
    table.loc[(table["method"] == "segmented") & (table["role"] == "best"), "blanket_per_user"] = 11.0
    figure = draw(table, scenarios, "published", drawing="errors", edition="full")
    assert "$m$ from optimizeParameter" not in {line.get_label() for line in figure.axes[0].get_lines()}
    assert [text.get_text() for text in figure.axes[0].texts] == ["$m$ from optimizeParameter: 11 (outside)"]
    plt.close(figure)
