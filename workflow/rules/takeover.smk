# Inputs: what earlier runs left in .snakemake. Outputs: none; the lock of a run that was killed is lifted, and what it
# had half written is removed.
#
# Snakemake's lock does not say who holds it, so a killed run would block the next one. Every run therefore records
# itself before it locks anything, and removes its record at its end. A lock is stale if a recorded run is dead and
# none is alive; where that cannot be known (another machine, jobs on a cluster), Snakemake refuses as always.
import atexit
import os
import shutil
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
from snakemake.logging import logger

# absolute: Snakemake may have left the folder when the record is removed
RUNS = Path(".snakemake/runs").absolute()
LOCKS = Path(".snakemake/locks").absolute()
HOST = socket.gethostname()
# in the environment of every job: which run started it
MARK = "SEGSHUFFLE_RUN"


def doubt(record):
    """Say why the run of a record may still be at work; None if it is dead.

    With --unlock a run that cannot be seen from here counts as dead.
    """
    host, pid, created = record.stem.split("+")
    # another process may have this number now; 10 seconds, because the clock may have been set
    with suppress(psutil.Error):
        born = psutil.Process(int(pid)).create_time()
        if host == HOST and abs(born - float(created)) < 10:
            return "another run is at work"
    if "--unlock" in sys.argv:
        return None
    if host != HOST:
        return f"a run on {host} has not ended, as far as can be seen from here"
    # if the record is gone, its run has just ended normally
    with suppress(FileNotFoundError):
        if record.stat().st_size:
            return "a run was killed that had jobs on a cluster: see that none is left, then give --unlock once"


def jobs_of(runs):
    """Count the processes that these runs started and that outlive them."""
    marks = {record.name for record in runs}
    environs = (process.info["environ"] for process in psutil.process_iter(["environ"]))
    return sum((environ or {}).get(MARK) in marks for environ in environs)


def take_over(others):
    """Lift the lock that dead runs left, once their last jobs have ended."""
    doubts = {record: doubt(record) for record in others}
    dead = [record for record, reason in doubts.items() if reason is None]
    if dead and (jobs := jobs_of(dead)):
        logger.info(f"Waiting for {jobs} processes of a run that was killed.")
        while jobs_of(dead):
            time.sleep(0.2)
    if any(LOCKS.glob("*.lock")):
        if reason := next(filter(None, doubts.values()), None):
            logger.warning(f"Not lifting a lock: {reason}.")
        elif dead:
            logger.info("Lifting the lock of a run that was killed.")
            shutil.rmtree(LOCKS)
    if dead and len(dead) == len(doubts):
        # unfinished files of killed jobs; nobody writes there now
        for part in Path("results").rglob(".*.part"):
            part.unlink(missing_ok=True)
    for record in dead:
        record.unlink(missing_ok=True)


if workflow.is_main_process:
    SELF = psutil.Process()
    RUN = RUNS / f"{HOST}+{SELF.pid}+{SELF.create_time():.0f}.run"
    RUNS.mkdir(parents=True, exist_ok=True)
    RUN.touch()
    atexit.register(RUN.unlink, missing_ok=True)
    os.environ[MARK] = RUN.name
    take_over([record for record in RUNS.glob("*.run") if record != RUN])


def submitted():
    """Record that a run has jobs on a cluster: they may outlive it unseen."""
    if not workflow.local_exec:
        RUN.write_text("cluster", encoding="utf-8")
