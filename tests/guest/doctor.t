#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# `perf rvtrace doctor` on machines that are in order, as root and as nobody, and on one that loses
# trace.
. "$(dirname "$0")/lib.sh"

# says FILE LINE: doctor printed a line that begins so, white space aside
says()
{
	tr -s ' ' <"$dir/share/$1" | grep -F -- "$2" || { cat "$dir/share/$1"; return 1; }
}

# 3000 rounds of five instructions, one of which is left out every fourth time
loop="14250 instructions of a known loop were recorded and decoded as they were executed"

# in_order NAME MODEL-ARGS
in_order()
{
	# shellcheck disable=SC2016 # for the guest
	guest "$1" testing "$2" '
		insmod rvtrace.ko || exit 1
		perf-rvtrace doctor > root || exit 2
		echo 2 > /proc/sys/kernel/perf_event_paranoid
		cp perf-rvtrace /tmp/ && chmod 755 /tmp/perf-rvtrace
		setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/perf-rvtrace doctor > nobody || exit 3
		[ -z "$(ls -d /tmp/rvtrace-doctor.* 2> /dev/null)" ] || exit 4
		rmmod rvtrace'
	ok $? "$1: the machine is in order, and no recording is left"
	for cpu in 0 1; do
		check "$1: cpu $cpu, as root" says root "good cpu $cpu $loop"
		check "$1: cpu $cpu, as nobody" says nobody "good cpu $cpu $loop"
		check "$1: time stamps of cpu $cpu are measured" says root "good cpu $cpu time stamps run at"
	done
	check "$1: no rule of the control interface was broken" no_violations
}

in_order N-Trace ''
hook_options="--params $TOP/tools/model/params/etrace-2.0 --discovery registers"
in_order E-Trace "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"

hook_options=
# shellcheck disable=SC2016 # for the guest
guest losses testing fifo=24,drain=1 'insmod rvtrace.ko || exit 1
	perf-rvtrace doctor > root && exit 2
	ls /tmp/rvtrace-doctor.*/data || exit 3
	rmmod rvtrace'
ok $? "losses: the exit status is not 0, and the recording is kept"
# which cpu loses depends on what else runs
check "losses: it says so" says root "the encoder lost trace"
done_testing
