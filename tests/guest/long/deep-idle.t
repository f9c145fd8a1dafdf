#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Idle harts sleep, and what is a hart's own loses its registers then: encoder, sink, bridge. Events
# go on behind it, and what was decoded is what was executed.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

# Both harts work and sleep by turns. The task is elsewhere, asleep or at work.
# shellcheck disable=SC2016 # for the guest
turns='for i in 1 2 3 4 5 6 7 8 9 10; do
		taskset 1 seq 1 200 > /dev/null; sleep 0.05
		taskset 2 seq 1 200 > /dev/null; sleep 0.05
	done'

# slept: each hart did, more often than the program made it.
slept()
{
	awk '{ n++; few += $1 < 40 } END { exit n != 2 || few }' "$dir/share/slept"
}

# idle NAME KERNEL MODEL-ARGS EVENT
idle()
{
	local name=$1 kernel=$2

	guest "$name" "$kernel" "idle-loss=on$3" "insmod rvtrace.ko || exit 1
		echo '$turns' > turns
		perf-rvtrace record -q -o thread.data -e $4 -- sh turns || exit 2
		perf-rvtrace record -q -a -o machine.data -e $4 -- sh turns || exit 3
		echo 0 > /sys/devices/system/cpu/cpu1/online
		echo 1 > /sys/devices/system/cpu/cpu1/online || exit 4
		perf-rvtrace record -q -o again.data -e $4 -- sh turns || exit 5
		cat /sys/devices/system/cpu/cpu*/cpuidle/state1/usage > slept
		rmmod rvtrace"
	ok $? "$name: programs are recorded"
	check "$name: the harts slept" slept
	check "$name: what was decoded is what was executed" in_order thread machine again
	check "$name: no rule of the control interface was broken" no_violations
	check "$name: no complaint of the kernel" quiet "$dir/console"
}

hook_options=--deep-idle
idle N-Trace testing '' rvtrace//u
hook_options="--deep-idle --params $TOP/tools/model/params/etrace-2.0"
idle E-Trace stable ",etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace" rvtrace//u
hook_options='--deep-idle --topology both'
idle both testing ,topology=both rvtrace//u
hook_options='--deep-idle --topology funnel'
idle funnel testing ,topology=funnel rvtrace//u

# A hart sleeps and wakes while another prepares its sink, which takes a while.
check "restless: the program that sleeps is built" workload restless
for topology in direct both; do
	hook_options="--deep-idle --topology $topology"
	# shellcheck disable=SC2016 # for the guest
	guest restless testing "idle-loss=on,delay=500000,topology=$topology" 'taskset 2 ./restless & restless=$!
		for i in 1 2 3 4 5; do
			taskset 1 insmod rvtrace.ko || exit 1
			taskset 1 perf-rvtrace record -q -C 1 -o data -e rvtrace//u -- true || exit 2
			rmmod rvtrace
		done
		kill $restless'
	ok $? "restless, $topology: recorded five times"
	check "restless, $topology: no rule of the control interface was broken" no_violations
	check "restless, $topology: no complaint of the kernel" quiet "$dir/console"
done
hook_options=--deep-idle

selftests idle testing idle-loss=on basic life flight switches
rm -rf "$guest_bin"
done_testing
