"""One palette: where colours stand, and looks that stay apart however many things are drawn."""

from hypothesis import given
from hypothesis import strategies as st

from segshuffle.drawing.looks import (
    MARKERS,
    PALETTE,
    Look,
    looks_of,
    series_looks,
)


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
