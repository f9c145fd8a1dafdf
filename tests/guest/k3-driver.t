#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver on SpacemiT's K3: compatibles of its own, encoders and bridges that answer their own hart
# only, bridges before a funnel, CoreSight behind that. What goes there is what was executed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/dump-lib.sh"

check "cross-compile the program" workload mixture -static

same_flow()
{
	local hart

	truth_of_dump
	for hart in 0 1; do
		[ "$(wc -l <"$dir/pc.$hart")" -gt 20000 ] || { echo "hart $hart did next to nothing"; return 1; }
		decode 0 --src $hart "$capture/atb.$hart" && cmp "$dir/out" "$dir/pc.$hart" || return
	done
}

hook_options='--topology k3'
chip=modes=3,sync-modes=2,warl-features=0xffff0000
capture=$TOP/build/guest/capture-k3
for kernel in stable testing; do
	rm -rf "$capture" && mkdir -p "$capture"
	# One hart goes, and comes back: what is its own is activated on it again.
	# Branch by branch, without optimisations.
	guest $kernel $kernel "topology=k3,own-hart=on,$chip,capture=$capture" '
		devices=/sys/bus/rvtrace/devices
		insmod rvtrace.ko || exit 1
		ls $devices > devices
		cat $devices/atbbridge-0/trace_id $devices/atbbridge-1/trace_id $devices/funnel-0/sink_id \
			$devices/encoder-0/src_bits > texts || exit 2
		echo 0 > /sys/devices/system/cpu/cpu1/online && echo 1 > /sys/devices/system/cpu/cpu1/online || exit 3
		perf-rvtrace record -q -o a.data -e rvtrace/mode=3,context,timestamp/u -- mixture forked || exit 4
		setpriv --reuid 1000 --regid 1000 --clear-groups perf stat -e rvtrace//u -- true && exit 5
		rmmod rvtrace'
	ok $? "$kernel: root records, others may not send what runs off the chip"
	is "$kernel: devices" "atbbridge-0 atbbridge-1 encoder-0 encoder-1 funnel-0" "$(tr '\n' ' ' <"$dir/share/devices" | sed 's/ $//')"
	is "$kernel: ATB ids by hart, the funnel is the end, 12 bits of SRC" "0x10 0x11 1 12" \
		"$(tr '\n' ' ' <"$dir/share/texts" | sed 's/ $//')"
	program=$dir/share/mixture
	printf '%s\n' 'protocol = ntrace' 'dialect = 1.0' 'mode = btm' 'xlen = 64' 'src_bits = 12' \
		'timestamp = delta' >"$dir/params"
	check "$kernel: what left the funnel is what was executed" same_flow
	check "$kernel: each hart used its own components, by the rules" no_violations
	check "$kernel: no complaint of the kernel" test -z "$(grep -E 'BUG|WARN|no answer' "$dir/console")"
done
rm -rf "$guest_bin" "$capture"
done_testing
