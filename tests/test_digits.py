"""Numbers of ten significant digits, on the side that the caller asked for."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from segshuffle.digits import rounded, rounded_down, rounded_up

numbers = st.floats(min_value=1e-300, max_value=1e300) | st.floats(min_value=-1e300, max_value=-1e-300)


def digits_of(value):
    """Count the significant digits of the shortest decimal that reads back as the value."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


@given(numbers)
@example(0.3)
@example(0.9999999999999999)
@example(9.9999999999e-5)
@example(123456789.05)
def test_ten_digits_on_the_side_asked_for(value):
    down, near, up = rounded_down(value), rounded(value), rounded_up(value)
    assert down <= value <= up
    assert near in (down, up)
    assert up - down <= 1.000001e-9 * abs(value)
    for found in (down, near, up):
        assert digits_of(found) <= 10
        assert rounded_down(found) == rounded(found) == rounded_up(found) == found


@given(numbers)
def test_the_sides_are_neighbours(value):
    """No number of ten digits lies between the two sides, so that rounding changes as little as possible."""
    down, up = (Decimal(repr(side(value))) for side in (rounded_down, rounded_up))
    unit = Decimal(1).scaleb(max(down.adjusted(), up.adjusted()) - 9)
    assert up - down in (0, unit, unit / 10)


def test_a_sum_of_fractions_is_rounded_up_even_from_a_last_digit():
    assert rounded_up(2 * Fraction("1e-06"), 3) == 2e-6
    assert rounded_up(Fraction("1e-06") + Fraction("1e-40"), 3) == 1.01e-6
