"""Algorithm 1 message by message.

`shuffler` (messages, uniform permutation, streaming), `clients` (what is sent), `level_counts` (round 1), `server`
(counts and estimates), `engine` (`run_protocol`). The count-level simulations of the protocols have the same law; tests
compare them.
"""

from __future__ import annotations

from segshuffle.protocols.messages.clients import Announcement, ClientBatch
from segshuffle.protocols.messages.engine import ProtocolRun, Refused, Seconds, run_protocol
from segshuffle.protocols.messages.level_counts import (
    LevelEstimates,
    LevelPrivacy,
    noisy_level_moments,
    planning_counts,
    weight_variance,
)
from segshuffle.protocols.messages.server import Collection, Server, tally
from segshuffle.protocols.messages.shuffler import Outbox, ShuffledMessages, Shuffler, WireFormat

__all__ = [
    "Announcement",
    "ClientBatch",
    "Collection",
    "LevelEstimates",
    "LevelPrivacy",
    "Outbox",
    "ProtocolRun",
    "Refused",
    "Seconds",
    "Server",
    "ShuffledMessages",
    "Shuffler",
    "WireFormat",
    "noisy_level_moments",
    "planning_counts",
    "run_protocol",
    "tally",
    "weight_variance",
]
