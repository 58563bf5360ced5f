"""How many random numbers a client draws: known before it draws, and bounded for every plan that it accepts."""

import re

import numpy as np
import pytest

from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.exact import uniform
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import Signed
from segshuffle.collection.messages import Client, Demand, check_announcement
from segshuffle.errors import RefusedError
from segshuffle.plans.scheme import Scheme


def announced(law, blanket_per_user, copies=(0.4,), *, domain_size=17, cap=None):
    return Scheme(domain_size, 2, 10**6, copies, blanket_per_user, law, cap)


def drawn(scheme, clients, seed=1):
    """Return the numbers that each of some clients draws."""
    rng, numbers = np.random.default_rng(seed), []
    for _ in range(clients):
        below, taken = uniform(rng.bytes), []

        def counted(n, below=below, taken=taken):
            taken.append(n)
            return below(n)

        Client((0, 3), 0, Demand(1.0, 1e-5, 10**6), counted).draw_unchecked(scheme)
        numbers.append(len(taken))
    return np.array(numbers)


SCHEMES = [
    announced(POISSON, 3.3),
    announced(POISSON, 0.01),
    announced(POISSON, 40.0, (7.5,)),
    announced(POISSON, 3.0, cap=3),
    announced(POISSON, 0.9, cap=1),
    announced(Clustered(0.5), 5.0),
    announced(Clustered(0.01), 5.0),
    announced(Clustered(0.95), 0.3),
    announced(Clustered(0.95), 60.0),
    announced(Signed(0.3, 0.02, 0.5), 9.0),
    announced(Signed(0.0, 0.9, 0.2), 2.0),
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_client_draws_no_more_numbers_than_it_foresaw(scheme):
    """On average; five standard errors are allowed. The bound is at most four times what is drawn."""
    numbers = drawn(scheme, 300)
    error = numbers.std() / len(numbers) ** 0.5
    bound = scheme.most_steps(0)
    assert numbers.mean() - 5 * error <= bound <= 4 * (numbers.mean() + 5 * error)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("law", "blanket_per_user"),
    [(Clustered(2.1e-5), 20.0), (Signed(7e-5, 7e-5, 0.5), 90.0), (Clustered(0.99), 9998.0), (POISSON, 9998.0)],
)
def test_a_client_is_done_after_the_stated_number_of_steps(law, blanket_per_user):
    """The number is a sum of many, so it is near its mean: within a tenth."""
    scheme = announced(law, blanket_per_user, domain_size=10**6)
    check_announcement(scheme, Demand(90.0, 0.5, 10**6), 0)
    assert drawn(scheme, 1)[0] <= 1.1e6


@pytest.mark.parametrize("most_messages", [10.0, 10_000.0, 1e6])
def test_the_limit_is_where_it_is_said_to_be(most_messages):
    """A million numbers, or a hundred for every message that the client is ready to send."""
    limit = max(1e6, 100 * most_messages)
    demand = Demand(1.0, 1e-5, 10**6, most_messages=most_messages)
    check_announcement(announced(Clustered(5.1 / limit), 5.0), demand, 0)
    with pytest.raises(RefusedError, match=f"more than the {re.escape(f'{limit:g}')} that this client is ready"):
        check_announcement(announced(Clustered(4.9 / limit), 5.0), demand, 0)
