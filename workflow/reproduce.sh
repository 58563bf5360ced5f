#!/usr/bin/env bash
# Run Snakemake (its words are the arguments) once at a time in this folder, and continue a run that was killed.
set -u
mkdir -p .snakemake
unfinished=.snakemake/unfinished

# a lock of the system, freed when its run ends in any way
exec 9>.snakemake/reproduce.lock
if command -v flock >/dev/null && ! flock --nonblock 9; then
    echo "Another run in this folder has not ended; waiting for it." >&2
    flock 9
fi
# jobs may outlive a killed run, and Python does not hand the lock on to them: they carry a mark in their environment
jobs_left() { grep --quiet --no-messages --null-data --fixed-strings --line-regexp "SEGSHUFFLE_RUN=$PWD" /proc/[0-9]*/environ; }
if jobs_left; then
    echo "Jobs of a run that was killed have not ended; waiting for them." >&2
    while jobs_left; do sleep 0.5; done
fi

# no run is at work, so Snakemake's own lock and half-written files are those of a run that was killed
if [ -e "$unfinished" ]; then
    echo "Continuing a run that was killed." >&2
    "$@" --unlock >/dev/null 2>&1
    [ ! -d results ] || find results -name '.*.part' -delete
fi

touch "$unfinished"
trap : INT # after Ctrl-C Snakemake ends its jobs; the lines below then still run
SEGSHUFFLE_RUN="$PWD" "$@"
status=$?
rm -f "$unfinished"
[ "$status" = 0 ] || echo "The run has not ended well. After the cause is mended, the same command continues it." >&2
exit "$status"
