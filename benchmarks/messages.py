"""Messages per second per core of the message-level engine: generate, shuffle, count; beside a plain loop over users.

    python benchmarks/messages.py                      # n = 1e6, d = 128, s = 4, m = 1
    python benchmarks/messages.py --users 10000000 --chunk-users 200000 --repeats 3

CPU seconds of this one process are what "per core" means; wall-clock seconds are printed too, and differ on a busy
machine. The engine is single-threaded.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter

import numpy as np

from segshuffle.protocols.messages import Announcement, Shuffler, SimulatedClients, tally

RATES = (0.6, 0.9, 1.0)
STEPS = ("generate", "scatter", "permute", "count", "all")


def population(rng: np.random.Generator, n_users: int, domain_size: int, set_size: int) -> SimulatedClients:
    """Users with one item from each of set_size equal parts of the domain, and levels at random."""
    part = domain_size // set_size
    items = rng.integers(part, size=(n_users, set_size), dtype=np.int16) + part * np.arange(set_size, dtype=np.int16)
    return SimulatedClients(items, rng.integers(len(RATES), size=n_users, dtype=np.uint8))


def engine_run(
    users: SimulatedClients, announcement: Announcement, chunk_users: int, spill: bool, rng: np.random.Generator, clock
) -> tuple[int, list[float]]:
    """One round; returns the number of messages and the seconds of every step."""
    spent = dict.fromkeys(STEPS, 0.0)
    began = clock()
    buckets = max(2, -(-len(users) // chunk_users)) if spill else 1
    with Shuffler(announcement.wire, rng, buckets=buckets) as shuffler:
        for start in range(0, len(users), chunk_users):
            stop = start + chunk_users
            mark = clock()
            outbox = SimulatedClients(users.items[start:stop], users.levels[start:stop]).send_items(announcement, rng)
            spent["generate"] += clock() - mark
            mark = clock()
            shuffler.collect(outbox)
            spent["scatter"] += clock() - mark
        mark = clock()
        messages = shuffler.release()
        spent["permute"] = clock() - mark
    with messages:
        mark = clock()
        counted = tally(messages, announcement.domain_size)
        spent["count"] = clock() - mark
    spent["all"] = clock() - began
    return int(counted.counts.sum()), [spent[step] for step in STEPS]


def plain_run(users: SimulatedClients, announcement: Announcement, seed: int, clock) -> tuple[int, float]:
    """The same round as one reads it in the paper: a loop over users and items."""
    coins = random.Random(seed)
    items, levels = users.items.tolist(), users.levels.tolist()
    slots = max(1, int(np.ceil(announcement.blanket_per_user)))
    filled = announcement.blanket_per_user / slots
    began = clock()
    messages = []
    for held, level in zip(items, levels, strict=True):
        rate = announcement.copies[level]
        for item in held:
            if coins.random() < rate:
                messages.append(item)
        for _ in range(slots):
            if coins.random() < filled:
                messages.append(coins.randrange(announcement.domain_size))
    coins.shuffle(messages)
    return sum(Counter(messages).values()), clock() - began


def report(name: str, messages: int, seconds: list[float]) -> None:
    best, middle = min(seconds), statistics.median(seconds)
    print(f"  {name:<28} median {messages / middle / 1e6:7.2f} M/s   best {messages / best / 1e6:7.2f} M/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--domain-size", type=int, default=128)
    parser.add_argument("--set-size", type=int, default=4)
    parser.add_argument("--blanket", type=float, default=1.0, help="expected blanket messages per user m")
    parser.add_argument("--chunk-users", type=int, default=2**18)
    parser.add_argument("--plain-users", type=int, default=50_000, help="users of the plain loop")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    users = population(rng, args.users, args.domain_size, args.set_size)
    print(f"n = {args.users}, d = {args.domain_size}, s = {args.set_size}, m = {args.blanket:g}, rates {RATES}")
    clocks = {"CPU": time.process_time, "wall": time.perf_counter}
    for kind in ("binomial", "poisson"):
        announcement = Announcement(args.domain_size, args.set_size, args.users, RATES, args.blanket, kind)
        for spill in (False, True):
            print(f"{kind} blanket, {'spilled to disk in buckets' if spill else 'shuffled in memory'}")
            for clock_name, clock in clocks.items():
                runs = [
                    engine_run(users, announcement, args.chunk_users, spill, rng, clock) for _ in range(args.repeats)
                ]
                messages = runs[-1][0]
                report(f"{messages} messages, {clock_name}", messages, [steps[-1] for _, steps in runs])
                medians = [statistics.median(steps[i] for _, steps in runs) / messages * 1e9 for i in range(4)]
                print("    ns per message: " + ", ".join(f"{s} {v:.1f}" for s, v in zip(STEPS, medians, strict=False)))

    print(f"plain loop over {args.plain_users} users (binomial blanket)")
    few = SimulatedClients(users.items[: args.plain_users], users.levels[: args.plain_users])
    announcement = Announcement(args.domain_size, args.set_size, args.users, RATES, args.blanket, "binomial")
    for clock_name, clock in clocks.items():
        loops = [plain_run(few, announcement, args.seed + i, clock) for i in range(min(args.repeats, 5))]
        report(f"{loops[-1][0]} messages, {clock_name}", loops[-1][0], [seconds for _, seconds in loops])


if __name__ == "__main__":
    main()
