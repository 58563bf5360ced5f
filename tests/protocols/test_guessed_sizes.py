"""The largest set that users send, chosen by a guess: who holds what under it, and which size has the least error."""

import numpy as np
import pytest

from segshuffle.errors import ParameterError
from segshuffle.protocols.padding import guessed_holders, sent_frequencies

SHARES = {0: 0.1, 1: 0.5, 3: 0.3, 6: 0.1}


@pytest.mark.parametrize("zipf", [0.0, 1.0, 3.0])
def test_everybody_holds_as_many_as_guessed(zipf):
    users, holders = guessed_holders(SHARES, 7, zipf)
    assert {size: users[size] for size in np.flatnonzero(users)} == SHARES
    for size in range(8):
        # as many items as the size says, no item by more users than there are, and none more than a popular one
        assert holders[size].sum() == pytest.approx(size * SHARES.get(size, 0.0), rel=1e-9)
        assert (holders[size] <= users[size] + 1e-15).all()
        assert (np.diff(holders[size]) <= 1e-15).all()
    if zipf == 0.0:
        np.testing.assert_allclose(holders[3], 0.3 * 3 / 7, rtol=1e-9)
    else:
        assert holders[1, 0] / holders[1, 6] > 1.5**zipf


def test_truncation_by_hand():
    """Of users with three and six items two are sent: 2/3 and 1/3 of what they hold."""
    users, holders = guessed_holders(SHARES, 7, 1.0)
    true, sent, _ = sent_frequencies(users, holders, 2, "at-most")
    np.testing.assert_allclose(true, holders[1] + holders[3] + holders[6], rtol=1e-12)
    np.testing.assert_allclose(sent, holders[1] + holders[3] * 2 / 3 + holders[6] / 3, rtol=1e-12)


@pytest.mark.parametrize(
    ("shares", "domain_size", "zipf", "name"),
    [
        ({1: 0.5}, 5, 1.0, "add up"),
        ({5: 1.0}, 5, 1.0, "sizes in"),
        ({1: 1.5, 2: -0.5}, 5, 1.0, "shares"),
        ({1: 1.0}, 1, 1.0, "domain_size"),
        ({1: 1.0}, 4001, 1.0, "domain_size"),
        ({1: 1.0}, 5, -1.0, "zipf"),
        ({1: 1.0}, 5, float("nan"), "zipf"),
    ],
)
def test_guesses_that_are_refused(shares, domain_size, zipf, name):
    with pytest.raises(ParameterError, match=name):
        guessed_holders(shares, domain_size, zipf)
