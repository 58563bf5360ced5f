"""How close the proven protocol comes to a Gaussian curator if all have the same level, over the size of the blanket.

With one level and every item sent once, the noise of a counter is Poisson(mu), mu = n m/d; a curator with the same
guarantee adds Gaussian noise. The error of both is their variance times d/n^2, so the ratio depends on mu, delta and
the number of exchanged items alone.
"""

from itertools import product

import numpy as np
import pandas as pd

from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.blankets.singles import SINGLES
from segshuffle.numerics.gaussian import gaussian_ratio

#: Blanket means n m/d of the curve.
BLANKET_MEANS = tuple(float(f"{mean:.4g}") for mean in np.geomspace(10.0, 1e5, 33))


def limit_table(*, set_sizes: list[int], deltas: list[float]) -> pd.DataFrame:
    """Tabulate the proven protocol's error over the curator's at the same (epsilon, delta) (kind: exact, closed form).

    Parameters
    ----------
    set_sizes : list of int
        Numbers of exchanged items, min(s, d - s).
    deltas : list of float
        Failure probabilities.

    Returns
    -------
    DataFrame
        Columns set_size, delta, blanket_mean, epsilon (certified, rounded up; inf where there is none), error_ratio.
    """
    rows = []
    for set_size, delta, mean in product(set_sizes, deltas, BLANKET_MEANS):
        epsilon = epsilon_upper([(SINGLES.pair(mean, 1.0), set_size)], delta=delta)
        ratio = np.nan
        if 0 < epsilon < 100:
            # the blanket's variance over the curator's
            ratio = mean * gaussian_ratio(epsilon=epsilon, delta=delta) ** 2 / (2 * set_size)
        rows.append((set_size, delta, mean, epsilon, ratio))
    return pd.DataFrame(rows, columns=["set_size", "delta", "blanket_mean", "epsilon", "error_ratio"])
