"""Populations: who holds which items. The MSNBC log (or its stand-in), synthetic users, or your own transactions.

Nothing here knows about privacy; a `Population` is what every protocol is simulated on.
"""

from segshuffle.datasets.archive import read_sessions_file, verify_sessions
from segshuffle.datasets.fetch import (
    SessionsSource,
    download_sessions,
    obtain_sessions,
)
from segshuffle.datasets.msnbc import parse_sessions, set_sizes, users_per_category
from segshuffle.datasets.populations import (
    Population,
    load_population,
    msnbc_population,
    save_population,
    uniform_population,
)
from segshuffle.datasets.stand_in import draw_stand_in
from segshuffle.datasets.transactions import read_transactions

__all__ = [
    "Population",
    "SessionsSource",
    "download_sessions",
    "draw_stand_in",
    "load_population",
    "msnbc_population",
    "obtain_sessions",
    "parse_sessions",
    "read_sessions_file",
    "read_transactions",
    "save_population",
    "set_sizes",
    "uniform_population",
    "users_per_category",
    "verify_sessions",
]
