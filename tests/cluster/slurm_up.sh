#!/usr/bin/env bash
# One-node Slurm on loopback from Debian's packages, without systemd:   slurm_up.sh FOLDER
# Needs root and   apt-get install --no-install-recommends munge slurmctld slurmd slurm-client
# FOLDER gets the key, the configuration, the logs and the pids by which slurm_down.sh ends what is started here.
set -euo pipefail
folder=$(realpath -m "${1:?usage: slurm_up.sh FOLDER}")
conf=/etc/slurm/slurm.conf   # no other place: the executor plugin takes SLURM_CONF from its jobs
port=${SLURM_TEST_PORT:-16817}

fail() { echo "slurm_up: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "slurmd must be root to start jobs"
for program in munged slurmctld slurmd sbatch; do command -v "$program" >/dev/null || fail "$program is not installed"; done
[ ! -e "$conf" ] && [ ! -L "$conf" ] || fail "$conf exists: this machine has a Slurm of its own, or slurm_down.sh was not called"

umask 022   # munge refuses places that others may write to, and needs one that they may read
mkdir -p "$folder"/{log,run,controller,node} /etc/slurm
(umask 077; head -c 1024 /dev/urandom >"$folder/munge.key")
host=$(hostname -s)
memory=$(awk '/MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)
# proctrack, task, jobacct: no cgroups, which a container seldom may write; NoInAddrAny: listen on loopback only;
# CR_CPU_Memory: mem_mb and threads are what the scheduler counts; MinJobAge: squeue remembers ended jobs, as no
# database does; EnforcePartLimits: a job that can never fit is refused at once
cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.sock
CredType=cred/munge
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
StateSaveLocation=$folder/controller
SlurmdSpoolDir=$folder/node
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=2
MinJobAge=86400
EnforcePartLimits=ALL
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=${SLURM_TEST_CPUS:-$(nproc)} RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
ln -s "$folder/slurm.conf" "$conf"

until_true() {   # until_true SECONDS COMMAND...
    local end=$((SECONDS + $1)); shift
    until timeout 10 "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done
}
ready() { sinfo --noheader --format %T | grep -qE '^(idle|mixed|allocated)$'; }

munged --socket="$folder/run/munge.sock" --key-file="$folder/munge.key" --log-file="$folder/log/munged.log" \
    --pid-file="$folder/run/munged.pid" --seed-file="$folder/munge.seed" --num-threads=2
until_true 10 munge --socket="$folder/run/munge.sock" --no-input || fail "munged: see $folder/log/munged.log"
slurmctld
until_true 20 scontrol ping || fail "slurmctld: see $folder/log/slurmctld.log"
slurmd
export -f ready
until_true 20 bash -c ready || fail "slurmd: see $folder/log/slurmd.log"
sinfo --noheader --format 'slurm_up: partition %P, %D node %T, %c CPUs, %m MB'
