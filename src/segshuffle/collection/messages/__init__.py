"""Algorithm 1 message by message.

`client` is a real client, or many: it checks the announcement (`verification`) and draws exactly (`blankets.exact`).
`message_lines` writes and reads messages as lines of text. `simulated_clients` are many clients at once, for studies.
`shuffler` permutes the messages. In round 1 users send their levels (`plans.level_counts`), and in round 2 items.
`server` counts and estimates, and `received` checks what arrived. `engine` runs both rounds with simulated
clients. Clients, simulated clients and the simulations by counts have the same law; tests compare them.
"""

from segshuffle.collection.messages.client import Client as Client
from segshuffle.collection.messages.client import send_all as send_all
from segshuffle.collection.messages.engine import run_protocol as run_protocol
from segshuffle.collection.messages.server import Server as Server
from segshuffle.collection.messages.verification import Demand as Demand
from segshuffle.collection.messages.verification import check_announcement as check_announcement
from segshuffle.collection.messages.verification import guaranteed_delta as guaranteed_delta
