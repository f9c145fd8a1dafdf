#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# record --trigger on the stable kernel, and what trigger.t does not have: processes that run already,
# whole cpus, libraries, places in files, other signals, the kernel's flow, many threads' cpus.
. "$(dirname "$0")/../trigger-lib.sh"

check "cross-compile the workload" workload trigger -g -fPIE -pie
offset=$("$LAB" in riscv64-linux-gnu-nm "$guest_bin/trigger" | awk '$3 == "seldom" { print $1 }')
GUEST_TIMEOUT=600
guest stable stable '' '
	insmod rvtrace.ko || exit 1
	record="perf-rvtrace record -m ,64K"
	$record -e rvtrace//u -o free.data --trigger sym:seldom -- trigger call || exit 2
	taskset -c 1 $record -e rvtrace//u -o place.data --trigger uprobe:./trigger+0x'"$offset"' -- trigger call || exit 3
	$record -o kernel.data --trigger sym:seldom -- trigger call || exit 4
	$record -e rvtrace//u -o lib.data --trigger sym:libc.so.6:nanosleep -- trigger call 2> lib.err || exit 5
	$record -e rvtrace//u -o term.data --trigger signal:TERM -- trigger term 2> term.err
	[ $? -eq 143 ] || exit 6
	$record -e rvtrace//u -o long.data --trigger sym:part:over=300ms:every=0s -- trigger long || exit 7
	trigger wait & victim=$!
	sleep 1
	$record -e rvtrace//u -o pid.data --trigger sym:seldom:every=1s -p $victim 2> pid.err & recorder=$!
	sleep 6
	kill -INT $recorder; wait $recorder || exit 8
	kill $victim
	$record -a -e rvtrace//u -o cpus.data --trigger sym:./trigger:seldom -- trigger call || exit 9
	perf-rvtrace record -a -o none.data --trigger sym:seldom -- true 2> none.err && exit 10
	perf-rvtrace record -o none.data --trigger sym:step:over=soon -- trigger 2> time.err && exit 11
	perf-rvtrace record -o none.data --trigger signal:NONE -- trigger 2> signal.err && exit 12
	cat /sys/kernel/tracing/uprobe_events /sys/kernel/tracing/kprobe_events > probes || exit 13
	rmmod rvtrace'
ok $? "programs are recorded until something happens"

for recording in free place kernel lib term long pid cpus; do
	check "$recording: the flow equals the truth" equals_truth "$dir/share/$recording.data" --lossy --min 10000
done
# The buffer has more than is executed until the recorder runs, wherever that is.
check "wherever the recorder runs: the call is there" ends_with_call free.data seldom 100000000
check "a place in the file: the last thing is the call" ends_with_call place.data seldom 0
check "with the kernel's flow: the call is there" marks kernel.data 'record-trigger: .* seldom+0x0 .* sym:seldom$'
check "a library's function by another name of it" marks lib.data 'record-trigger: .*nanosleep+0x0 .*libc.so.6:nanosleep$'
check "a signal that ends the program" marks term.data 'record-trigger: .*signal:TERM$'
check "a long call: all of it is there" whole_call
check "a process: several snapshots" says pid.err 'snapshot 3:'
check "a process: what was left out is counted" says pid.err 'more times made no snapshot'
check "whole cpus: script says when" marks cpus.data 'record-trigger: .* sym:./trigger:seldom$'
check "of no program: says what to give" says none.err "no function 'seldom' in .*true"
check "no time: says so" says time.err "'soon' is no length of time"
check "no signal: says so" says signal.err 'there is no such signal'
check "no probe is left behind" test ! -s "$dir/share/probes"
check "no rule of the control interface was broken" no_violations
done_testing
