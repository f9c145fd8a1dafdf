#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# record --snapshot: the newest trace, at SIGUSR2 and at the end. What is kept equals the truth.
. "$(dirname "$0")/lib.sh"

# newest FILE MIN MAX: so many snapshots' worth of trace, and nothing in it that did not happen
newest()
{
	local file=$dir/share/$1 bytes

	bytes=$("$HOST/perf-rvtrace" stat -i "$file" --symfs "$dir/share:$("$LAB" path guest)" | awk '$1 == "all" { print $2 }')
	echo "$bytes bytes of trace"
	[ "$bytes" -ge "$2" ] && [ "$bytes" -le "$3" ] && equals_truth "$file" --lossy --min 10000
}

# The last message before each signal is there, too. Of signals that come fast some are one.
many()
{
	newest many.data 100000 4000000 || return 1
	"$HOST/perf-rvtrace" stat -i "$dir/share/many.data" --symfs "$dir/share:$("$LAB" path guest)" \
		> "$dir/stat" 2>&1
	! grep 'bytes of trace are not in the file' "$dir/stat"
}

# snapshots NAME MODEL-ARGS
snapshots()
{
	guest "$1" testing "$2" '
		insmod rvtrace.ko || exit 1
		seq 1 3000 | awk "{ print (\$1 * 7919) % 100003 }" > input
		# at the end, for there was no signal
		perf-rvtrace record -S -m ,64K -o end.data -e rvtrace//u -- sort -n input > sorted || exit 2
		sort -c -n sorted || exit 3
		perf-rvtrace record --snapshot=e -m ,64K -o signals.data -e rvtrace//u -- \
			sh -c "i=0; while [ \$i -lt 4000 ]; do i=\$((i + 1)); [ \$((i % 1000)) -ne 500 ] || kill -USR2 \$PPID; done" ||
			exit 4
		# small buffers: a sink goes round many times between two signals, or not once
		perf-rvtrace record --snapshot=e -m ,16K -o many.data -e rvtrace//u -- \
			sh -c "i=0; while [ \$i -lt 6000 ]; do i=\$((i + 1)); [ \$((i % 97)) -gt 2 ] || kill -USR2 \$PPID; done" ||
			exit 5
		rmmod rvtrace'
	ok $? "$1: programs are recorded, with snapshots of what they did last"
	# One hart had the program at the end; two buffers of 64 KiB hold no more than that.
	check "$1: without a signal: one snapshot at the end, equal to the truth" newest end.data 20000 131072
	check "$1: four signals and the end: equal to the truth" newest signals.data 66000 655360
	check "$1: signals more and less often than the buffer is full: equal to the truth" many
	check "$1: no rule of the control interface was broken" no_violations
}

snapshots N-Trace ''
hook_options="--params $TOP/tools/model/params/etrace-2.0 --discovery registers"
snapshots E-Trace "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"
# The trace of two harts is copied out of one sink, before that goes round.
hook_options='--topology funnel'
snapshots funnel topology=funnel
done_testing
