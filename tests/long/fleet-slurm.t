#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The scripts in share/rvtrace/slurm in a real Slurm: one node with four tasks, on the loopback, all of
# whose daemons are this test's own.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1
[ "$(id -u)" -eq 0 ] || skip_all "slurmd needs root"
PATH=$PATH:/usr/sbin:/sbin
for command in mpicc mpirun slurmctld slurmd srun munged; do
	command -v $command >/dev/null && continue
	tools/setup-host libopenmpi-dev openmpi-bin slurmctld slurmd slurm-client munge >/dev/null 2>&1 ||
		skip_all "no $command, and no package of it"
done
make -s all fleet || exit 1
dir=$(mktemp -d)
daemons=()
trap 'stop_daemons; rm -rf "$dir"' EXIT
. tests/fleet-lib.sh
export RVTRACE_BIN=$TOP/build/host SLURM_CONF=$dir/slurm.conf

stop_daemons()
{
	local pid

	# by turns: munged serves the others
	for pid in "${daemons[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
}

# free_port: one that nobody listens to
free_port()
{
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

write_config()
{
	cat >"$SLURM_CONF" <<-END
		ClusterName=rvtrace
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$dir/munge/socket
		CredType=cred/munge
		SlurmctldPort=$(free_port)
		SlurmdPort=$(free_port)
		SlurmctldPidFile=$dir/slurmctld.pid
		SlurmdPidFile=$dir/slurmd.pid
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/slurmd
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		MpiDefault=none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SlurmdParameters=config_overrides
		ReturnToService=2
		SchedulerParameters=sched_interval=1,batch_sched_delay=0
		SlurmctldTimeout=30
		NodeName=rvtrace-test NodeAddr=127.0.0.1 CPUs=4
		PartitionName=all Nodes=rvtrace-test Default=YES State=UP
	END
}

start_daemons()
{
	mkdir -p "$dir/munge" "$dir/state" "$dir/slurmd" && chmod 755 "$dir" "$dir/munge" || return
	dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 2>/dev/null && chmod 600 "$dir/munge.key" || return
	munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge/socket" \
		--pid-file="$dir/munge.pid" --log-file="$dir/munge.log" --seed-file="$dir/munge.seed" \
		--num-threads=1 >"$dir/munged.out" 2>&1 &
	munged=$!
	write_config
	slurmctld -D -i >"$dir/slurmctld.log" 2>&1 &
	daemons=($!)
	slurmd -D -N rvtrace-test >"$dir/slurmd.log" 2>&1 &
	daemons=($! "${daemons[@]}" $munged)
	for ((i = 0; i < 30; i++)); do
		[ "$(timeout 5 sinfo -h -o %t 2>/dev/null)" != idle ] || return 0
		sleep 1
	done
	tail -n 5 "$dir"/munge.log "$dir"/munged.out "$dir"/slurm*.log
	return 1
}

start_daemons >"$dir/started" 2>&1 || { diag <"$dir/started"; skip_all "Slurm does not start here"; }
make_programs || exit 1
mkdir "$dir/in"
for i in 1 2 3 4 5 6 7 8; do
	record "in/r$i.data" old "$((i % 3))" $((2000 * i)) $((i * 0x10000))
done
cd "$dir" || exit 1
"$TOP/build/host/perf-rvtrace" fleet -o one -f folded,bolt --jobs 1 in 2>err

# same NAME DIRECTORY
same()
{
	diff -r -q -x spool one "$2" >differs
	ok_or_show $? "$1" differs
}

# job NAME ARGUMENTS...: a job of sbatch, to its end; what it says is in out
job()
{
	sbatch --wait --output=out --error=out "${@:2}" >submitted 2>&1
	ok_or_show $? "$1" <(cat submitted out)
}

scripts=$TOP/share/rvtrace/slurm
job "four ranks" --ntasks=4 "$scripts/fleet.sbatch" -o ranks -f folded,bolt in
same "come to the same as one process" ranks
check "there were four ranks" grep -q 'this rank decoded [0-7] of 8' out

# A rank is killed while it has something to do: the script begins again, and the spool is used.
cat >perf-rvtrace-mpi <<-END
	#!/bin/bash
	if [ "\$SLURM_PROCID" = 1 ] && [ ! -e $dir/was-killed ]; then
		touch $dir/was-killed
		( while [ "\$(find $dir/killed/spool -name '[0-9a-f]*' | wc -l)" -lt 2 ]; do sleep 0.01; done
			kill -9 \$\$ ) &
	fi
	exec $TOP/build/host/perf-rvtrace-mpi "\$@"
END
chmod +x perf-rvtrace-mpi
RVTRACE_BIN=$dir job "a rank that is killed" --ntasks=2 "$scripts/fleet.sbatch" -o killed -f folded,bolt in
check "is told" grep -q 'try 1: a rank did not come to its end' out
same "and the result is the same" killed

array=$(sbatch --parsable --array=1-3 --output=array "$scripts/fleet-array.sbatch" --spool spool -f folded,bolt in)
job "a job array, and what adds up" --dependency="afterany:$array" --wrap \
	"$TOP/build/host/perf-rvtrace fleet -o array-sum --spool spool -f folded,bolt in"
same "come to the same" array-sum
check "and the last one decoded nothing" grep -q 'decoded 0 of 8' out
done_testing
