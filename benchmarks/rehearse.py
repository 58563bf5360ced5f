"""Time and memory of a rehearsal of a large file: `segshuffle rehearse` from compressed CSV to its page.

    python benchmarks/rehearse.py                                    # 1e7 users with 5 items each, 5e7 rows
    python benchmarks/rehearse.py --users 1e6 --levels 0.5:25%,1:75%  # further options are those of rehearse

The file, made as in `benchmarks/reading.py`, and all results lie in a temporary folder. Memory is the largest that the
command ever held. Targets, on two cores: 120 s by the clock, 2 GB.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reading import write

LONGEST, LARGEST = 120.0, 2e9


def rehearse(path: Path, options: list[str]) -> None:
    """Run the command on a file, and print what it took."""
    command = [sys.executable, "-m", "segshuffle", "rehearse", str(path), "--out", str(path.parent / "out")]
    began = time.perf_counter()
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    most = used.ru_maxrss * 1024
    print(f"{wall:.1f} s by the clock (to reach: {LONGEST:.0f}), {used.ru_utime + used.ru_stime:.1f} s of processors,")
    print(f"{most / 1e9:.2f} GB at most (to reach: {LARGEST / 1e9:.0f}); {path.stat().st_size / 1e6:.0f} MB of csv.gz")
    print(f"{os.cpu_count()} cores ({platform.machine()}), load {os.getloadavg()[0]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=float, default=1e7)
    options, further = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "users.csv.gz"
        write(path, int(options.users), shuffled=False)
        rehearse(path, further)


if __name__ == "__main__":
    main()
