"""Figures: the same bytes every time, honest labels, one look per method that survives a grey print."""

import re

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from segshuffle.drawing.looks import METHODS, looks_in
from segshuffle.drawing.style import save
from segshuffle.plans.listed import names_of
from segshuffle.reproduction.design import Scenario, Setting
from segshuffle.reproduction.studies.panels.report import draw

GRID = (0.1, 1.0, 10.0)
#: Looks of the methods in Figures 2-6; the proven ones have figures of their own.
COMPETITORS = names_of("published", "competitor")


@pytest.fixture(autouse=True)
def every_figure_is_closed():
    before = plt.get_fignums()
    yield
    assert plt.get_fignums() == before


PANELS = [Scenario(Setting("msnbc", n_users, 4, 17), "S1") for n_users in (5000, 5001)]


def table_of(panels):
    """Make up rows of panels: our least error is 2, the competitors' are 3, 4, 5, ..."""
    points = [("segmented", m, error, "grid") for m, error in zip(GRID, (6.0, 2.0, 4.0), strict=True)]
    points.append(("segmented", 2.0, 1.5, "best"))
    points += [(name, 0.0, 3.0 + i, "best") for i, name in enumerate(COMPETITORS)]
    table = pd.DataFrame(points, columns=["method", "blanket_per_user", "mse_mean", "role"])
    table = table.assign(accounting="published", source="real", mse_stderr=0.1, mse_expected=table["mse_mean"])
    table = table.assign(dataset="msnbc", set_size=4, domain_size=17, split="S1")
    tables = [table.assign(n_users=panel.setting.n_users) for panel in panels]
    return pd.concat(tables, ignore_index=True)


def drawn(figure):
    return draw(table_of(PANELS), figure)


@pytest.mark.quick(0)
@pytest.mark.parametrize("kind", ["fig2", "summary"])
def test_the_same_numbers_give_the_same_bytes(tmp_path, kind):
    found = []
    for attempt in ("one", "two"):
        folder = tmp_path / attempt
        folder.mkdir()
        save(drawn(kind), [folder / f"{kind}.{suffix}" for suffix in ("pdf", "svg", "png")])
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
        # a global setting that somebody left behind must not matter
        plt.rcParams["lines.linewidth"] = 7.0
    assert set(found[0]) == {f"{kind}.pdf", f"{kind}.svg", f"{kind}.png"}, "no temporary file is left"
    assert found[0] == found[1]
    assert found[0][f"{kind}.pdf"].startswith(b"%PDF")
    assert found[0][f"{kind}.png"].startswith(b"\x89PNG")
    assert not re.search(rb"CreationDate|ModDate|<dc:date>", b"".join(found[0].values()))


# --- looks -------------------------------------------------------------------------------------------------------


def test_methods_are_told_apart_without_colour(full_config):
    """Colour, mark or dashes alone are enough for the shipped configuration, else colour and mark together."""
    labels = [look.label for methods in METHODS.values() for look in methods.values()]
    assert len(set(labels)) == len(labels)
    # an extra of ours never goes under the paper's name
    assert "not in the paper" in METHODS["published"]["inverse-variance-sepmm"].label
    looks = looks_in(table_of(PANELS), "published")
    shipped = [looks[name] for name in ("segmented", "inverse-variance-sepmm", *full_config["competitors"]["methods"])]
    for field in ("color", "marker", "dashes"):
        assert len({getattr(look, field) for look in shipped}) == len(shipped), field
    assert len({(look.color, look.marker) for look in looks.values()}) == len(looks)
