#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Whose instructions they are by hcontext: on harts without scontext, and where the event asks for
# it. It has 14 bits; threads with larger ids are found by the context switches.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

check "cross-compile the workload" workload calls
# Two that take turns on one hart. Without time stamps nothing but the trace says whose turn it is;
# nor when what was mapped, so that there are gaps.
# shellcheck disable=SC2016 # expands in the guest
turns='sh -c "taskset 1 gzip -9 -c /bin/tar > /dev/null & taskset 1 xz -0 -c /bin/tar > /dev/null; wait"'

caps()
{
	echo "cat /sys/bus/event_source/devices/rvtrace/caps/$1"
}

# calls_of TID: how often leaf() was called in this thread.
calls_of()
{
	"$HOST/perf-rvtrace" report -i "$dir/share/large.data" \
		--symfs "$dir/share:$("$LAB" path guest)" -s tid,sym \
		2>"$dir/report.err" |
		awk -v tid="$1" '$5 == tid && $NF == "leaf" { n += $4 } END { print n + 0 }'
}

# states SED: the context CSRs' values in the truth.
states()
{
	local file

	for file in "$dir"/truth/truth.*; do
		"$HOST/rvt-truth" "$file" |
			sed -n "s/^state .* scontext \([0-9]*\) hcontext \([0-9]*\)$/\\$1/p"
	done
}

# After the last event a recording of somebody who wants no context: nobody writes these CSRs then.
afterwards='sleep 1; perf-rvtrace record -q -a -e rvtrace/context=0/ -o afterwards.data -- true'

# left_behind: whose ids are in the context CSRs in the end. A line for each hart.
left_behind()
{
	local file

	for file in "$dir"/truth/truth.*; do
		"$HOST/rvt-truth" "$file" | sed -n 's/^state .* scontext \([0-9]*\) hcontext \([0-9]*\)$/\1 \2/p' | tail -n 1
	done
}

# losses NAME: places where the code of the thread that runs was not where the trace says.
losses()
{
	raw_pc "$dir/share/$1.data" 2>"$dir/losses.err" | grep -c '^# lost'
}

for kernel in stable testing; do
	GUEST_TIMEOUT=200 guest only-$kernel $kernel scontext-bits=0 "insmod rvtrace.ko || exit 1
		{ $(caps scontext); $(caps hcontext_bits); $(caps thread_filter); } > caps
		perf-rvtrace record -q -a -e rvtrace/timestamp=0/ -o turns.data -- $turns || exit 2
		perf-rvtrace record -q -a -o large.data -- sh -c 'echo 20000 > /proc/sys/kernel/ns_last_pid; calls; true' || exit 3
		perf-rvtrace record -a -e rvtrace/thread=1/ -o none.data -- true 2> refused && exit 4
		$afterwards || exit 5
		rmmod rvtrace"
	ok $? "$kernel: harts with hcontext only are recorded"
	is "$kernel: what the driver says of the CSRs" \
		"0 14 0" "$(tr '\n' ' ' <"$dir/share/caps" | sed 's/ $//')"
	check "$kernel: a filter for a thread is refused for want of scontext" \
		grep -q 'no CSR scontext' "$dir/share/refused"
	check "$kernel: instructions and threads are those that were executed" \
		equals_truth "$dir/share/turns.data" --hcontext --lossy --min 10000000
	check "$kernel: so they are with larger ids" \
		equals_truth "$dir/share/large.data" --hcontext --lossy --min 100000
	# The same recording, as if it did not say that hcontext has the threads: then there are
	# context switches.
	sed 's/hcontext_bits = 14/hcontext_none = 14/' \
		"$dir/share/turns.data" >"$dir/share/switches.data"
	[ "$(losses switches)" -gt $((2 * $(losses turns))) ]
	ok $? "$kernel: the threads are those of hcontext"
	is "$kernel: a thread whose id does not fit" 1345 "$(calls_of 20001)"
	[ "$(states 2 | sort -n | tail -n 1)" = 16383 ]
	ok $? "$kernel: its id was not told"
	is "$kernel: nobody's id is left behind" "0 0" "$(left_behind | sort -u)"
	check "$kernel: no rule of the control interface was broken" no_violations
done

# With both, scontext may be a guest's.
params=$TOP/tools/model/params/etrace-2.0
guest both testing "etrace=$params,formats=etrace+ntrace" "insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -a -e rvtrace/hcontext,timestamp=0/ -o turns.data -- $turns || exit 2
	perf-rvtrace record -v -a -e rvtrace/hcontext,context=0,format=1/ -o none.data -- true 2> refused &&
		exit 3
	$afterwards || exit 4
	rmmod rvtrace"
ok $? "harts with both are recorded by hcontext"
check "it is enough to tell who runs" grep -q 'the trace tells who runs' "$dir/share/refused"
check "it is refused with E-Trace, which has no room for it" \
	grep -q 'E-Trace has no room' "$dir/share/refused"
check "instructions and threads are those that were executed" \
	equals_truth "$dir/share/turns.data" --hcontext --lossy --min 10000000
is "scontext was left alone" 0 "$(states 1 | sort -u)"
is "nobody's id is left behind" "0 0" "$(left_behind | sort -u)"
rm -rf "$guest_bin"
done_testing
