"""One palette: where colours stand, and looks that stay apart however many things are drawn."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.looks import DASHES, MARKERS, PALETTE, Look, looks_of, series_looks, spare_look
from segshuffle.page.charts import SYMBOLS

COLOUR = r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b"


def test_colours_stand_in_the_palette_and_in_variables_of_the_page(root):
    found = {
        str(path.relative_to(root))
        for folder in ("src/segshuffle", "workflow")
        for path in (root / folder).rglob("*")
        if path.suffix in {".py", ".mplstyle", ".j2", ".js", ".css", ".smk"}
        and re.search(COLOUR, path.read_text(encoding="utf-8"))
    }
    assert found == {"src/segshuffle/looks.py", "src/segshuffle/page/assets/page.css"}


def test_every_colour_of_the_page_is_declared(root):
    style = (root / "src/segshuffle/page/assets/page.css").read_text(encoding="utf-8")
    always, dark, paper = (set(re.findall(rf"--([\w-]+): {COLOUR};", part)) for part in style.split(":root {")[1:4])
    assert set(re.findall(r"var\(--([\w-]+)\)", style)) == {*always, "mono"}
    assert dark | paper <= always
    assert not re.search(COLOUR, re.sub(rf"--[\w-]+: {COLOUR};", "", style)), "colours stand in variables only"


def test_the_page_has_a_symbol_for_every_marker_and_a_shape_for_every_symbol(root):
    assert set(MARKERS) <= set(SYMBOLS)
    template = (root / "src/segshuffle/page/assets/page.html.j2").read_text(encoding="utf-8")
    for symbol in SYMBOLS.values():
        assert f'"{symbol}": "M' in template, symbol


@given(st.integers(1, 24))
def test_a_series_has_a_look_each(count):
    looks = series_looks(f"level {i}" for i in range(count))
    assert [look.label for look in looks] == [f"level {i}" for i in range(count)]
    assert len({(look.color, look.marker) for look in looks}) == count
    assert {look.color for look in looks} <= set(PALETTE.values())
    if count <= min(len(MARKERS), len(PALETTE)):
        assert len({look.marker for look in looks}) == count, "told apart without colour"
        assert len({look.color for look in looks}) == count


def test_looks_keep_the_declared_order_and_serve_every_name():
    declared = {
        name: Look(name.upper(), PALETTE["blue"], marker, "-") for name, marker in zip("abc", "os^", strict=True)
    }
    looks = looks_of(["new", "c", "a", "c", "newer"], declared)
    assert list(looks) == ["a", "c", "new", "newer"]
    assert looks["a"] == declared["a"]
    assert [look.label for look in looks.values()] == ["A", "C", "new", "newer"]
    spare = [looks["new"], looks["newer"]]
    # neither a colour nor a marker of what is declared, or of each other
    assert {look.color for look in spare}.isdisjoint({PALETTE["blue"]})
    assert {look.marker for look in spare}.isdisjoint("os^")
    assert spare[0].marker != spare[1].marker


@pytest.mark.parametrize("index", [0, 5, 1000])
def test_a_spare_look_is_served_even_where_all_are_taken(index):
    taken = [Look("", color, marker, "-") for color in PALETTE.values() for marker in MARKERS]
    assert spare_look("one more", index, taken=taken).label == "one more"


def test_neighbours_among_spare_looks_differ_in_all_three():
    looks = [spare_look("", i) for i in range(len(MARKERS))]
    for one, two in itertools.pairwise(looks):
        assert all(getattr(one, field) != getattr(two, field) for field in ("color", "marker", "dashes"))
    assert {look.dashes for look in looks} == set(DASHES)
