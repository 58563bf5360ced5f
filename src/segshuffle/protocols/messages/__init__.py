"""Algorithm 1 message by message.

`client` is one user's side as it would run: it checks the `announcement` (`verification`) and draws exactly (`exact`,
`blankets`). `simulated_clients` are many at once, for studies. `shuffler` (messages, uniform permutation, streaming),
`level_counts` (round 1), `server` (counts and estimates), `engine` (`run_protocol`, with simulated clients). Clients,
simulated clients and the count-level simulations of the protocols have the same law; tests compare them.
"""

from __future__ import annotations

from segshuffle.protocols.messages.client import Client
from segshuffle.protocols.messages.engine import ProtocolRun, run_protocol
from segshuffle.protocols.messages.level_counts import (
    LevelEstimates,
    LevelPrivacy,
    noisy_level_moments,
    planning_counts,
    weight_variance,
)
from segshuffle.protocols.messages.server import Server, tally
from segshuffle.protocols.messages.shuffler import Outbox, ShuffledMessages, Shuffler
from segshuffle.protocols.messages.simulated_clients import SimulatedClients
from segshuffle.protocols.messages.verification import Demand, check_announcement, guaranteed_delta
from segshuffle.protocols.scheme import Collection, Scheme

__all__ = [
    "Client",
    "Collection",
    "Demand",
    "LevelEstimates",
    "LevelPrivacy",
    "Outbox",
    "ProtocolRun",
    "Scheme",
    "Server",
    "ShuffledMessages",
    "Shuffler",
    "SimulatedClients",
    "check_announcement",
    "guaranteed_delta",
    "noisy_level_moments",
    "planning_counts",
    "run_protocol",
    "tally",
    "weight_variance",
]
