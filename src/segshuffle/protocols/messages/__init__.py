"""Algorithm 1 message by message.

`client` is one user's side as it would run: it checks the `announcement` (`verification`) and draws exactly (`exact`,
`blankets`). `simulated_clients` are many at once, for studies. `shuffler` (messages, uniform permutation, streaming),
`level_counts` (round 1), `server` (counts and estimates), `engine` (`run_protocol`, with simulated clients). Clients,
simulated clients and the count-level simulations of the protocols have the same law; tests compare them.
"""

from segshuffle.protocols.messages.client import Client as Client
from segshuffle.protocols.messages.engine import run_protocol as run_protocol
from segshuffle.protocols.messages.level_counts import LevelPrivacy as LevelPrivacy
from segshuffle.protocols.messages.server import Server as Server
from segshuffle.protocols.messages.verification import Demand as Demand
from segshuffle.protocols.messages.verification import check_announcement as check_announcement
from segshuffle.protocols.messages.verification import guaranteed_delta as guaranteed_delta
