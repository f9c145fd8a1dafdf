#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# How long the driver keeps interrupts off while it copies AUX buffers of 4 MiB: the function graph
# tracer times each function of the driver that runs so. The clock counts instructions, each of which
# takes 1 ns, and there is one hart, so that nothing else counts. Snapshots, too: there new trace
# overwrites old.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

MOST_US=50
keep_truth=
lab_options='--smp 1 --qemu-arg -icount --qemu-arg shift=0,sleep=off'
GUEST_TIMEOUT=${GUEST_TIMEOUT:-1500}
# What is traced: much of it, user and kernel, and a switch of tasks now and then.
# shellcheck disable=SC2016 # for the guest
record='record()
	{
		perf-rvtrace record -q "$@" -m ,4M -o /tmp/data -a -- sh -c \
			"for i in 1 2; do seq 1 8000 | sort -R | sort -n | gzip -c > /dev/null; done" || exit 3
		cat /sys/bus/rvtrace/devices/ramsink-*/copied_bytes > copied
		rm /tmp/data
	}
	mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
	T=/sys/kernel/tracing
	echo 65536 > $T/buffer_size_kb'

# longest: of the function graph with flags: microseconds and name of each function with interrupts
# off, the longest first.
longest()
{
	awk '/^ *[0-9]+\) +d/ && match($0, /[0-9.]+ us/) {
		us = substr($0, RSTART, RLENGTH - 3) + 0
		name = substr($0, RSTART + RLENGTH)
		sub(/\[.*/, "", name)
		gsub(/[^a-z0-9_]/, "", name)
		if (us > most[name]) most[name] = us
	}
	END { for (name in most) print most[name], name }' "$1" | sort -rn
}

# seen FILE N: at least N functions were measured.
seen() { [ "$(wc -l <"$1")" -ge "$2" ] || { head -n 20 "$1"; return 1; }; }

# within FILE: none takes longer than MOST_US; prints the longest ones.
within()
{
	head -n 5 "$1" | sed 's/^/# /'
	awk -v most=$MOST_US '$1 > most { print; bad = 1 } END { exit bad }' "$1"
}

for topology in direct funnel; do
	hook_options="--topology $topology"
	# shellcheck disable=SC2016 # for the guest
	guest $topology testing "clock=insns,topology=$topology" "insmod rvtrace.ko || exit 1
		$record"'
		echo ":mod:rvtrace" > $T/set_ftrace_filter || exit 4
		echo 1 > $T/max_graph_depth && echo 1 > $T/options/latency-format && echo 1 > $T/options/funcgraph-tail || exit 5
		echo function_graph > $T/current_tracer || exit 6
		record
		mv copied copied-before
		record -Se
		echo 0 > $T/tracing_on
		cat $T/trace > trace
		echo nop > $T/current_tracer
		rmmod rvtrace'
	ok $? "$topology: the driver's functions were traced"
	longest "$dir/share/trace" >"$dir/longest"
	check "$topology: functions with interrupts off are seen" seen "$dir/longest" 4
	check "$topology: none takes longer than $MOST_US us" within "$dir/longest"
	[ $topology = direct ] || check "$topology: more than 4 MiB were copied each time" \
		awk 'FNR == NR { before += $1; next } { sum += $1 }
			END { exit before < 4194304 || sum - before < 4194304 }' \
		"$dir/share/copied-before" "$dir/share/copied"
	check "$topology: no complaint of the kernel" quiet "$dir/console"
done
rm -rf "$guest_bin"
done_testing
