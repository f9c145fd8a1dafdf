#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Encoders and funnels with registers from before ratification, and the messages that go with them:
# branches are counted, time stamps are by XOR. They have no filters, so what is traced is all that
# runs, firmware included. What is decoded is what was executed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/v0-lib.sh"

v0_firmware

# recorded NAME KERNEL TOPOLOGY MODEL-ARGS
recorded()
{
	hook_options="--topology $3 --registers v0"
	guest "$1" "$2" "topology=$3,$v0_registers${4:+,$4}" '
		insmod rvtrace.ko || exit 1
		ls /sys/bus/rvtrace/devices > devices
		cat /sys/bus/rvtrace/devices/*-0/{version,params,memory,access_bytes} > texts 2> /dev/null
		# Nobody may have all privilege modes in the trace without asking for them.
		perf-rvtrace record -q -o none.data -e rvtrace//u -- true 2> refused && exit 2
		perf-rvtrace record -q -m ,32M -o ls.data -e rvtrace/machine/ukh -- ls -lR /sys/bus/platform > /dev/null || exit 3
		rmmod rvtrace && insmod rvtrace.ko && rmmod rvtrace'
	ok $? "$1: recorded"
	check "$1: what is decoded is what was executed" all_equals_truth "$dir/share/ls.data" --min 100000
	check "$1: no rule of the registers was broken" no_violations
	check "$1: no complaint of the kernel" test -z "$(grep -E 'BUG|WARN|no answer' "$dir/console")"
}

recorded own stable direct ''
recorded shared testing funnel ts-modes=system+shared
done_testing
