"""One palette: where colours stand, and looks that stay apart however many things are drawn."""

import re

from hypothesis import given
from hypothesis import strategies as st

from segshuffle.drawing.looks import (
    ACCOUNTANTS,
    MARKERS,
    METHODS,
    PALETTE,
    SPARE,
    Look,
    looks_of,
    series_looks,
    spare_look,
)
from segshuffle.reproduction.page.charts import SYMBOLS

COLOUR = r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b"


def test_colours_stand_in_the_palette_and_in_variables_of_the_page(root):
    found = {
        str(path.relative_to(root))
        for folder in ("src/segshuffle", "workflow")
        for path in (root / folder).rglob("*")
        if path.suffix in {".py", ".mplstyle", ".j2", ".js", ".css", ".smk"}
        and not path.name.endswith(".min.js")
        and re.search(COLOUR, path.read_text(encoding="utf-8"))
    }
    assert found == {"src/segshuffle/drawing/looks.py", "src/segshuffle/drawing/assets/page.css"}


def test_every_colour_of_the_page_is_declared(root):
    style = (root / "src/segshuffle/drawing/assets/page.css").read_text(encoding="utf-8")
    always, dark, paper = (set(re.findall(rf"--([\w-]+): {COLOUR};", part)) for part in style.split(":root {")[1:4])
    assert set(re.findall(r"var\(--([\w-]+)\)", style)) == {*always, "mono"}
    assert dark | paper <= always
    assert not re.search(COLOUR, re.sub(rf"--[\w-]+: {COLOUR};", "", style)), "colours stand in variables only"


def test_the_page_has_a_symbol_for_every_marker_and_a_shape_for_every_symbol(root):
    assert set(MARKERS) <= set(SYMBOLS)
    template = (root / "src/segshuffle/reproduction/page/assets/page.html.j2").read_text(encoding="utf-8")
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
    assert all(getattr(spare[0], field) != getattr(spare[1], field) for field in ("color", "marker", "dashes"))


def test_spare_looks_are_told_from_all_listed_ones_and_from_each_other():
    listed = [*METHODS["published"].values(), *METHODS["proven"].values(), *ACCOUNTANTS.values()]
    assert {PALETTE[name] for name in SPARE}.isdisjoint(look.color for look in listed)
    looks = [spare_look("", i) for i in range(24)]
    assert len({look.color for look in looks[: len(SPARE)]}) == len(SPARE)
    strokes = {(look.marker, look.dashes) for look in looks}
    assert len(strokes) == len(looks), "told apart without colour"
    assert strokes.isdisjoint((look.marker, look.dashes) for look in listed)
    assert spare_look("one more", 1000).label == "one more"
