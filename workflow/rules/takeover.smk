# Inputs: what earlier runs left in .snakemake. Outputs: none; the lock of a run that was killed is lifted.
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
from pathlib import Path

import psutil
from snakemake.logging import logger

# absolute: Snakemake may have left the folder when the record is removed
RUNS = Path(".snakemake/runs").absolute()
LOCKS = Path(".snakemake/locks").absolute()
# in the environment of every job: which run started it
MARK = "SEGSHUFFLE_RUN"


def record_of(process):
    """Where a process of this machine records itself."""
    return (
        RUNS / f"{socket.gethostname()}+{process.pid}+{process.create_time():.0f}.run"
    )


def alive(record):
    """Whether the process of a record of this machine still runs; its number may have been given to another."""
    _, pid, created = record.stem.split("+")
    try:
        # the clock may have been set meanwhile
        return abs(psutil.Process(int(pid)).create_time() - float(created)) < 10
    except psutil.Error:
        return False


def jobs_of(record):
    """Processes that a run started: they outlive it if it alone was killed."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == record.name:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def doubt(record):
    """Why the run of a record may still be at work; None if it is not."""
    host = record.name.split("+")[0]
    if host != socket.gethostname():
        return f"a run on {host} has not ended, as far as can be seen from here"
    if alive(record):
        return "another run is at work"
    try:
        submitted = record.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None  # it has just ended, in order
    if submitted and "--unlock" not in sys.argv:
        return "a run was killed that had jobs on a cluster: see that none is left, then give --unlock once"
    return None


def take_over(others):
    """Lift the lock that dead runs left, once their last jobs have ended."""
    doubts = {record: doubt(record) for record in others}
    dead = [record for record, reason in doubts.items() if reason is None]
    if "--unlock" in sys.argv:
        # the user knows about other machines what cannot be seen from here
        dead += [
            record for record in others if record not in dead and not alive(record)
        ]
    for record in dead:
        if jobs := jobs_of(record):
            logger.info(f"Waiting for {len(jobs)} processes of a run that was killed.")
        while jobs:
            time.sleep(0.2)
            jobs = jobs_of(record)
    if any(LOCKS.glob("*.lock")):
        if dead and not any(doubts.values()):
            logger.info("Lifting the lock of a run that was killed.")
            shutil.rmtree(LOCKS)
        elif any(doubts.values()):
            logger.warning(
                f"Not lifting a lock: {next(filter(None, doubts.values()))}."
            )
    for record in dead:
        record.unlink(missing_ok=True)


if workflow.is_main_process:
    RUN = record_of(psutil.Process())
    RUNS.mkdir(parents=True, exist_ok=True)
    RUN.touch()
    atexit.register(RUN.unlink, missing_ok=True)
    os.environ[MARK] = RUN.name
    take_over([record for record in RUNS.glob("*.run") if record != RUN])


onstart:
    if not workflow.local_exec:
        RUN.write_text("cluster", encoding="utf-8")
