"""Messages per second per core of simulations message by message, compared with a plain loop over users.

    python benchmarks/messages.py                      # n = 1e6, d = 128, s = 4, m = 1
    python benchmarks/messages.py --users 10000000 --chunk-users 200000 --repeats 3

"Per core" means per CPU second of this one process, which has one thread. Wall-clock seconds are printed too, and
differ on a busy machine.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.poisson import POISSON
from segshuffle.collection.messages.server import tally
from segshuffle.collection.messages.shuffler import Shuffler
from segshuffle.collection.messages.simulated_clients import SimulatedClients
from segshuffle.plans.scheme import Messages, Scheme

DOMAIN_SIZE, SET_SIZE, BLANKET = 128, 4, 1.0
#: Users of the plain loop.
PLAIN_USERS = 50_000
RATES = (0.6, 0.9, 1.0)
STEPS = ("generate", "shuffle", "count", "all")


def population(rng: np.random.Generator, n_users: int) -> SimulatedClients:
    """Draw users with one item from each of SET_SIZE equal parts of the domain, and levels at random."""
    part = DOMAIN_SIZE // SET_SIZE
    items = rng.integers(part, size=(n_users, SET_SIZE), dtype=np.int16) + part * np.arange(SET_SIZE, dtype=np.int16)
    return SimulatedClients(items, rng.integers(len(RATES), size=n_users, dtype=np.uint8))


@contextlib.contextmanager
def added(spent: dict[str, float], clock: Callable[[], float], step: str) -> Iterator[None]:
    """Add the seconds of a block to those of a step."""
    began = clock()
    yield
    spent[step] += clock() - began


def engine_run(
    users: SimulatedClients, scheme: Scheme, chunk_users: int, rng: np.random.Generator, clock
) -> tuple[int, list[float]]:
    """Run one round; return the number of messages and the seconds of every step."""
    spent = dict.fromkeys(STEPS, 0.0)
    step = partial(added, spent, clock)

    def sent() -> Iterator[Messages]:
        for batch in users.batches(chunk_users):
            with step("generate"):
                words = batch.send_items(scheme, rng)
            yield words

    with step("all"):
        with step("shuffle"):
            messages = Shuffler(rng).release(sent(), scheme.dtype)
        with step("count"):
            counts = tally(messages, scheme.distinct_messages)
    spent["shuffle"] -= spent["generate"]
    return int(counts.sum()), list(spent.values())


def plain_run(users: SimulatedClients, scheme: Scheme, seed: int, clock) -> tuple[int, float]:
    """Run the same round as the paper writes it: a loop over users and items."""
    coins = random.Random(seed)
    items, levels = users.items.tolist(), users.levels.tolist()
    slots = max(1, int(np.ceil(scheme.blanket_per_user)))
    filled = scheme.blanket_per_user / slots
    began = clock()
    messages = []
    for held, level in zip(items, levels, strict=True):
        rate = scheme.copies[level]
        for item in held:
            if coins.random() < rate:
                messages.append(item)
        for _ in range(slots):
            if coins.random() < filled:
                messages.append(coins.randrange(scheme.domain_size))
    coins.shuffle(messages)
    return sum(Counter(messages).values()), clock() - began


def report(name: str, messages: int, seconds: Sequence[float]) -> None:
    best, middle = min(seconds), statistics.median(seconds)
    print(f"  {name:<28} median {messages / middle / 1e6:7.2f} M/s   best {messages / best / 1e6:7.2f} M/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--chunk-users", type=int, default=2**18)
    parser.add_argument("--repeats", type=int, default=9)
    args = parser.parse_args()

    rng = np.random.default_rng(1)
    users = population(rng, args.users)
    print(f"n = {args.users}, d = {DOMAIN_SIZE}, s = {SET_SIZE}, m = {BLANKET:g}, rates {RATES}")
    clocks = {"CPU": time.process_time, "wall": time.perf_counter}
    for law in (BINOMIAL, POISSON):
        scheme = Scheme(DOMAIN_SIZE, SET_SIZE, args.users, RATES, BLANKET, law)
        print(f"{law.name} blanket")
        for name, clock in clocks.items():
            runs = [engine_run(users, scheme, args.chunk_users, rng, clock) for _ in range(args.repeats)]
            messages = runs[-1][0]
            *steps, whole = zip(*(spent for _, spent in runs), strict=True)
            report(f"{messages} messages, {name}", messages, whole)
            medians = [statistics.median(each) / messages * 1e9 for each in steps]
            print("    ns per message: " + ", ".join(map("{} {:.1f}".format, STEPS, medians)))

    few = SimulatedClients(users.items[:PLAIN_USERS], users.levels[:PLAIN_USERS])
    print(f"plain loop over {len(few)} users (binomial blanket)")
    scheme = Scheme(DOMAIN_SIZE, SET_SIZE, args.users, RATES, BLANKET, BINOMIAL)
    for name, clock in clocks.items():
        loops = [plain_run(few, scheme, seed, clock) for seed in range(min(args.repeats, 5))]
        report(f"{loops[-1][0]} messages, {name}", loops[-1][0], [seconds for _, seconds in loops])


if __name__ == "__main__":
    main()
