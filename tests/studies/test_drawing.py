"""Labels at the ends of lines do not overlap, keep their order and stay inside the panel."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.studies.drawing import apart


@given(
    wanted=st.lists(st.floats(0, 1), min_size=1, max_size=6),
    heights=st.lists(st.floats(0.01, 0.16), min_size=6, max_size=6),
)
def test_labels_stand_apart_inside_the_panel(wanted, heights):
    wanted, sizes = np.sort(wanted), np.array(heights[: len(wanted)])
    found = apart(wanted, sizes)
    assert found[0] - sizes[0] / 2 > -1e-9
    assert found[-1] + sizes[-1] / 2 < 1 + 1e-9
    assert (np.diff(found) > (sizes[1:] + sizes[:-1]) / 2 - 1e-9).all()


def test_labels_with_room_stay_where_they_are_wanted():
    wanted = np.array([0.2, 0.5, 0.8])
    np.testing.assert_allclose(apart(wanted, np.full(3, 0.1)), wanted, rtol=1e-12)
