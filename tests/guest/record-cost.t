#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What a short recording costs where a clock counts instructions, one a nanosecond: less than a
# board executes in a second (0.56 billion), in the mean of ten.
. "$(dirname "$0")/lib.sh"
lab_options="--smp 1 --qemu-arg -icount --qemu-arg shift=0,sleep=off"
keep_truth=
most_ms=5400

guest main testing clock=insns '
	unset PERF_RVTRACE_EMBED
	sysctl -q -w net.core.bpf_jit_enable=1
	insmod rvtrace.ko || exit 1
	# the first one fills the cache
	perf-rvtrace record -q -o /tmp/a.data -- true || exit 2
	times_of() {
		bash -c "TIMEFORMAT=\"%U %S\"; time for i in 1 2 3 4 5 6 7 8 9 10; do
			\"\$@\" > /dev/null 2>> errors || exit 1; done" sh "$@" 2> "times"
	}
	times_of perf-rvtrace record -q -o /tmp/a.data -- true || exit 3
	rmmod rvtrace || exit 4'
ok $? "ten recordings of true as root"
awk -v most=$most_ms '{ ms = ($1 + $2) * 1000; print ms " million instructions" }
	END { exit !(ms > 0 && ms < most) }' "$dir/share/times"
ok_or_show $? "they execute less than $most_ms million instructions" "$dir/share/times"
done_testing
