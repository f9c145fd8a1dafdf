#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Groups that the trace leads, whose events pause and resume it; traces of a control group.
. "$(dirname "$0")/lib.sh"

report()
{
	local file=$1

	shift
	"$HOST/perf-rvtrace" report -i "$dir/share/$file" --symfs "$dir/share:$("$LAB" path guest)" "$@"
}

# The kernel's write() of the program, and nothing else of it: not its exec, its page faults, its end.
only_writes()
{
	report group.data --comms writes -s sym >"$dir/report" || return
	grep -q ' vfs_write$' "$dir/report" && ! grep -E ' (do_mmap|begin_new_exec|do_exit|do_group_exit)$' "$dir/report"
}

# As often as the program writes: 22 times (writes.c).
each_write()
{
	report group.data --comms writes -s sym >"$dir/report" || return
	is_number 22 "$(awk '$NF == "ksys_write" { print $4 }' "$dir/report")"
}

# is_number EXPECTED FOUND
is_number()
{
	[ "$1" = "$2" ] || { echo "$2 instead of $1"; return 1; }
}

# What ran in the control group: not the shell, and not `calls`, before and behind it.
only_the_group()
{
	report "$1" -s comm >"$dir/report" || return
	cat "$dir/report"
	is_number writes "$(awk '!/^#/ && NF { print $NF }' "$dir/report" | grep -vx sh | sort | uniq | paste -sd,)"
}

instructions()
{
	"$HOST/perf-rvtrace" stat -i "$dir/share/$1" --symfs "$dir/share:$("$LAB" path guest)" |
		awk '$1 == "all" { print $3 }'
}

# Without what came before the clock's first tick. That may come before the first instruction, or
# behind the last: of three recordings one begins amid the program.
starts_at_the_clock()
{
	local late all n

	all=$(instructions full.data)
	for n in 1 2 3; do
		late=$(instructions user.$n.data)
		echo "${late:-0} of $all instructions"
		[ "${late:-0}" -lt "$all" ] && [ "${late:-0}" -gt 0 ] && return
	done
	return 1
}

check "cross-compile the workloads" workload writes
workload calls
workload latency
GUEST_TIMEOUT=600
guest main testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o group.data \
		-e "{rvtrace/aux-action=start-paused/k,syscalls:sys_enter_write/aux-action=resume/,syscalls:sys_exit_write/aux-action=pause/}" \
		-- writes > /dev/null || exit 2
	mkdir -p /tmp/groups && mount -t cgroup -o perf_event none /tmp/groups && mkdir /tmp/groups/ours || exit 3
	perf-rvtrace record -o cgroup.data -a -G ours -e rvtrace//u -- \
		sh -c "calls > /dev/null; (echo 0 > /tmp/groups/ours/cgroup.procs; exec writes) > /dev/null; calls > /dev/null" || exit 4
	perf-rvtrace record -o busy.data -a -G ours -e rvtrace//u -- taskset 1 \
		sh -c "while :; do :; done & (echo 0 > /tmp/groups/ours/cgroup.procs; exec writes) > /dev/null; kill \$!" || exit 8
	perf-rvtrace record -o none.data -a -G theirs -- true 2> none && exit 5
	for n in 1 2 3; do
		perf-rvtrace record -o user.$n.data \
			-e "{rvtrace/aux-action=start-paused/u,cpu-clock/aux-action=resume,period=300000/u}" \
			-- latency || exit 6
	done
	perf-rvtrace record -o full.data -e rvtrace//u -- latency || exit 7
	rmmod rvtrace'
ok $? "programs are recorded"
check "paused and resumed by events of its group: only what lies between" only_writes
check "and each time" each_write
check "the writes equal the truth" equals_truth "$dir/share/group.data" --lossy --min 10000
check "a control group: its programs only" only_the_group cgroup.data
check "and they equal the truth" equals_truth "$dir/share/cgroup.data" --lossy --min 1000
# Its events start while the task before is current still.
check "also where another program runs between" only_the_group busy.data
check "and all of that is there" \
	"$HOST/perf-rvtrace" stat --strict -i "$dir/share/busy.data" --symfs "$dir/share:$("$LAB" path guest)"
check "and equals the truth" equals_truth "$dir/share/busy.data" --lossy --min 1000
check "one that is not there is named" grep -q "no control group 'theirs'" "$dir/share/none"
check "a clock resumes a program's trace amid it" starts_at_the_clock
# Where the program ended before the first tick there is no trace, and that is said.
equals_truth_if_any()
{
	[ -n "$(instructions "$1")" ] || grep -q 'no trace at all' "$dir/output" || return
	[ -z "$(instructions "$1")" ] || equals_truth "$dir/share/$1" --lossy --min 0
}
for n in 1 2 3; do
	check "that equals the truth ($n)" equals_truth_if_any "user.$n.data"
done
done_testing
