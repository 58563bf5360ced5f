#!/usr/bin/env bash
# Ends what slurm_up.sh started, and nothing else:   slurm_down.sh FOLDER
set -u
folder=$(realpath -m "${1:?usage: slurm_down.sh FOLDER}")
conf=/etc/slurm/slurm.conf
[ "$(readlink "$conf")" = "$folder/slurm.conf" ] || { echo "slurm_down: the cluster of $folder is not up"; exit 0; }

timeout 10 scancel --user "$(id -un)"   # $conf is ours, so these are the jobs of this cluster
for _ in $(seq 50); do [ -z "$(timeout 5 squeue --noheader --states R,CG)" ] && break; sleep 0.1; done
for program in slurmd slurmctld munged; do
    pid=$(tr -d ' \n' <"$folder/run/$program.pid") || continue
    # a number may have been given to another process since
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$program" ] || continue
    kill "$pid"
    for _ in $(seq 100); do [ -d "/proc/$pid" ] || continue 2; sleep 0.1; done
    kill -9 "$pid"
done
rm -f "$conf"
