#!/usr/bin/env bash
# Run Snakemake (its words are the arguments) once at a time in this folder, and continue a run that was killed.
set -u
mkdir -p .snakemake
unfinished=.snakemake/unfinished

# the system frees this lock when the last process of a run has ended: a job that outlives its run still holds it
if command -v flock >/dev/null; then
    exec 9>.snakemake/reproduce.lock
    if ! flock --nonblock 9; then
        echo "Another run in this folder has not ended; waiting for it." >&2
        flock 9
    fi
fi

# no run is at work, so Snakemake's own lock and half-written files are those of a run that was killed
if [ -e "$unfinished" ]; then
    echo "Continuing a run that was killed." >&2
    "$@" --unlock >/dev/null 2>&1
    [ ! -d results ] || find results -name '.*.part' -delete
fi

touch "$unfinished"
trap : INT # after Ctrl-C Snakemake ends its jobs; the lines below then still run
"$@"
status=$?
rm -f "$unfinished"
[ "$status" = 0 ] || echo "The run has not ended well. After the cause is mended, the same command continues it." >&2
exit "$status"
