#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Sinks whose writes caches do not see: the driver copies their trace, and invalidates what it reads.
# The model reports each read that a cache would have answered with old bytes.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

workload='sh -c "seq 1 200 | sort -R | gzip -c > /dev/null"'

# all_copied: each byte that sinks wrote was copied, and there was more than one.
all_copied()
{
	awk '{ sum[FILENAME] += $1 } END {
		for (name in sum) if (sum[name] < 10000) exit 1
		exit sum[ARGV[1]] != sum[ARGV[2]] }' "$dir/share/copied" "$dir/share/traced"
}

# noncoherent NAME KERNEL MODEL-ARGS EVENT: two programs, one behind the other
noncoherent()
{
	local name=$1 kernel=$2

	guest "$name" "$kernel" "coherent=off$3" "insmod rvtrace.ko || exit 1
		perf-rvtrace record -q -o one.data -e $4 -- $workload || exit 2
		perf-rvtrace record -q -o two.data -e $4 -- $workload || exit 3
		cat /sys/bus/rvtrace/devices/ramsink-*/copied_bytes > copied
		cat /sys/bus/rvtrace/devices/ramsink-*/traced_bytes > traced
		rmmod rvtrace"
	ok $? "$name: programs are recorded"
	check "$name: all trace is copied" all_copied
	check "$name: what was decoded is what was executed" in_order one two
	check "$name: nothing is read from a cache, or written over by one" no_violations
	check "$name: no complaint of the kernel" quiet "$dir/console"
}

# Without Svpbmt there is no memory without a cache, so that the kernel has to invalidate.
lab_options='--cpu rv64,svpbmt=off'
hook_options=--noncoherent
noncoherent direct testing '' rvtrace//u
lab_options='--cpu rv64,svpbmt=on'
hook_options="--noncoherent --topology funnel --params $TOP/tools/model/params/etrace-2.0"
noncoherent funnel stable ",topology=funnel,etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace" rvtrace//u

# The same hardware, which the devicetree calls coherent
hook_options=
guest coherent testing coherent=off "insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -o one.data -e rvtrace//u -- $workload"
check "a driver that takes the sinks for coherent is found out" \
	grep -qE 'writes block .*, which is dirty in a cache|reads block .*, which caches have as it was' \
	"$dir/violations"
done_testing
