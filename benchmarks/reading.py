"""Time and memory to read a large file: from compressed CSV to what `rehearse` needs.

    python benchmarks/reading.py                              # 1e6 users with 5 items each, in a temporary file
    python benchmarks/reading.py --users 1e7 --keep big.csv.gz
    python benchmarks/reading.py --file big.csv.gz --order shuffled

Seconds are by the clock, and memory is the largest that the reading process ever held, the interpreter included.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_ITEMS, _BATCH = 1000, 200_000
_STEPS = np.array([0, 1, 3, 7, 12])


def write(path: Path, n_users: int, *, shuffled: bool) -> None:
    """Write a CSV with a row per user and item: users in order, or the rows of every batch of users shuffled."""
    rng = np.random.default_rng(1)
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b"user,item\n")
        for first in range(0, n_users, _BATCH):
            users = np.arange(first, min(first + _BATCH, n_users))
            items = (rng.integers(_ITEMS, size=(users.size, 1)) + _STEPS) % _ITEMS
            owners = np.repeat(users, _STEPS.size)
            order = rng.permutation(owners.size) if shuffled else np.arange(owners.size)
            rows = zip(owners[order].tolist(), items.ravel()[order].tolist(), strict=True)
            stream.write("".join([f"u{user},item-{item}\n" for user, item in rows]).encode())


def read(path: Path) -> None:
    """Read the file, cut the sets, and count the holders of each item by level: all that a simulation needs."""
    from segshuffle.datasets.own.reading import read_transactions

    began = time.perf_counter()
    users = read_transactions(path)
    read_in = time.perf_counter() - began
    rng = np.random.default_rng(2)
    levels = rng.integers(3, size=users.n_users).astype(np.int16)
    counts = users.cut(_STEPS.size - 1, rng).level_item_counts(levels, 3)
    counted = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{users.n_users} users, {users.codes.size} rows, {users.domain_size} items, {path.stat().st_size / 1e6:.0f} MB"
    )
    print(f"read in {read_in:.1f} s, counted after {counted:.1f} s, {time.process_time():.1f} s of processors,")
    print(f"{most:.2f} GiB at most; {counts.sum()} entries are sent")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=float, default=1e6)
    parser.add_argument("--order", choices=["sorted", "shuffled"], default="sorted")
    parser.add_argument("--keep", type=Path, help="write the file here, and keep it")
    parser.add_argument("--file", type=Path, help="read this file")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        read(options.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or options.keep or Path(folder) / "users.csv.gz"
        if options.file is None:
            write(path, int(options.users), shuffled=options.order == "shuffled")
        subprocess.run([sys.executable, __file__, "--file", str(path), "--here"], check=True)


if __name__ == "__main__":
    main()
