#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# record --trigger: the snapshot has the moment of the trigger, and little behind it.
. "$(dirname "$0")/trigger-lib.sh"

check "cross-compile the workload" workload trigger -g -fPIE -pie
guest main testing '' '
	insmod rvtrace.ko || exit 1
	# where the program runs the recorder does, too: it comes before the next instruction of the program
	record="taskset -c 1 perf-rvtrace record -m ,64K -e rvtrace//u"
	$record -o call.data --trigger sym:seldom -- trigger call 2> call.err || exit 2
	# what follows needs no copies of code, which take most of the time
	record="$record --no-code --copy-code never"
	$record -o long.data --trigger sym:part:over=300ms:every=0s -- trigger long 2> long.err || exit 3
	$record -o segv.data --trigger signal:SEGV -- trigger segv 2> segv.err
	[ $? -eq 139 ] || exit 4
	$record -o exit.data --trigger "exit!=0" -- trigger exit 2> exit.err
	[ $? -eq 3 ] || exit 5
	$record -o loop.data --trigger sym:seldom:every=20ms --switch-output -- trigger loop 2> loop.err || exit 6
	$record -o none.data --trigger sym:nobody -- trigger call 2> none.err && exit 7
	chmod 755 /sys/kernel/tracing
	setpriv --reuid 1000 --regid 1000 --clear-groups perf-rvtrace record -o /tmp/user.data --trigger sym:seldom \
		-- trigger call 2> user.err && exit 8
	cat /sys/kernel/tracing/uprobe_events /sys/kernel/tracing/kprobe_events > probes || exit 9
	rmmod rvtrace'
ok $? "programs are recorded until something happens"

check "a call: the flow equals the truth" equals_truth "$dir/share/call.data" --lossy --min 10000
check "a call: the last thing that the flow has is the call that was the trigger" ends_with_call call.data seldom 0
check "a call: script says when" marks call.data 'record-trigger: .* seldom+0x0 .* sym:seldom$'
check "a call: the page has a mark" page_has call.data '"text":"record-trigger sym:seldom"'
check "a long call: the flow equals the truth" equals_truth "$dir/share/long.data" --lossy --min 10000
check "a long call: all of it is there, its 6000 calls of step()" whole_call
check "a long call: latency says when" latency_says
check "SIGSEGV: the flow equals the truth" equals_truth "$dir/share/segv.data" --lossy --min 10000
check "SIGSEGV: the last instruction that is not executed is the one that was no good" ends_with fault segv.data
check "SIGSEGV: script says when" marks segv.data 'record-trigger: .*signal:SEGV$'
check "a status: the flow equals the truth" equals_truth "$dir/share/exit.data" --lossy --min 10000
check "a status: script says when" marks exit.data 'record-trigger: .*exit!=0$'
check "many: a file each, which ends with the call" each_file
check "many: what was left out is counted" all_calls
check "no such function: says so" says none.err "no function 'nobody' in .*trigger"
check "no rights: says what to do" says user.err 'root'
check "no probe is left behind" test ! -s "$dir/share/probes"
check "no rule of the control interface was broken" no_violations
done_testing
