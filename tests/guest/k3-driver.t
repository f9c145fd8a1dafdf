#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver on SpacemiT's K3: compatibles of its own, encoders and bridges that answer their own hart
# only, bridges before a funnel, CoreSight behind that. What goes there is what was executed, and so is
# what the driver records where CoreSight is its own, too: a funnel, an ETF, and an ETR to memory.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/dump-lib.sh"

check "cross-compile the program" workload mixture -static

same_flow()
{
	local cpu

	truth_of_dump
	for cpu in 0 1; do
		[ "$(wc -l <"$dir/pc.$cpu")" -gt 20000 ] || { echo "CPU $cpu did next to nothing"; return 1; }
		decode 0 --src $cpu "$capture/atb.$(hart_of $cpu)" && cmp "$dir/out" "$dir/pc.$cpu" || return
	done
}

chip=modes=3,sync-modes=2,warl-features=0xffff0000
capture=$TOP/build/guest/capture-k3
hook_options='--topology k3'
rm -rf "$capture" && mkdir -p "$capture"
# One hart goes, and comes back: what is its own is activated on it again.
# Branch by branch, without optimisations.
guest bridges stable "topology=k3,own-hart=on,$chip,capture=$capture" '
	devices=/sys/bus/rvtrace/devices
	insmod rvtrace.ko || exit 1
	ls $devices > devices
	cat $devices/atbbridge-*/trace_id | sort > texts || exit 2
	cat $devices/funnel-0/sink_id $devices/encoder-0/src_bits >> texts || exit 2
	echo 0 > /sys/devices/system/cpu/cpu1/online && echo 1 > /sys/devices/system/cpu/cpu1/online || exit 3
	perf-rvtrace record -q -o a.data -e rvtrace/mode=3,context,timestamp/u -- mixture forked || exit 4
	setpriv --reuid 1000 --regid 1000 --clear-groups perf stat -e rvtrace//u -- true && exit 5
	rmmod rvtrace'
ok $? "bridges: root records, others may not send what runs off the chip"
is "bridges: devices" "atbbridge-0 atbbridge-1 encoder-0 encoder-1 funnel-0" "$(tr '\n' ' ' <"$dir/share/devices" | sed 's/ $//')"
is "bridges: an ATB id for each hart, the funnel is the end, 12 bits of SRC" "0x10 0x11 1 12" \
	"$(tr '\n' ' ' <"$dir/share/texts" | sed 's/ $//')"
program=$dir/share/mixture
printf '%s\n' 'protocol = ntrace' 'dialect = 1.0' 'mode = btm' 'xlen = 64' 'src_bits = 12' \
	'timestamp = delta' >"$dir/params"
check "bridges: what left the funnel is what was executed" same_flow
check "bridges: each hart used its own components, by the rules" no_violations
check "bridges: no complaint of the kernel" test -z "$(grep -E 'BUG|WARN|no answer' "$dir/console")"

# To memory: frames of both harts go through one ETR. Flushes take their time. The
# sink, which is a quarter of the buffer, holds what a hart executes until it is looked at again.
hook_options='--topology k3-etr'
guest memory testing "topology=k3-etr,own-hart=on,$chip,late-reads=5,wp-lag=64" '
	devices=/sys/bus/rvtrace/devices
	insmod rvtrace.ko || exit 1
	ls $devices > devices
	cat $devices/ramsink-0/sink_id $devices/ramsink-0/access_bytes $devices/ramsink-0/stop_on_wrap > texts || exit 2
	grep framing $devices/encoder-0/params >> texts
	(cd $devices/encoder-0/decoder && grep -H . *) > decoder
	perf-rvtrace record -q -m ,16M -o /tmp/threads.data -e rvtrace/context,timestamp/u -- mixture forked || exit 3
	perf-rvtrace record -q -a -m ,32M -o /tmp/all.data -e rvtrace// -- mixture forked || exit 4
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	setpriv --reuid 1000 --regid 1000 --clear-groups \
		perf-rvtrace record -q -m 64K,256K -o /tmp/own.data -e rvtrace//u -- true || exit 5
	mv /tmp/*.data .
	cat $devices/*/state > states
	rmmod rvtrace'
ok $? "memory: recorded, also by one who is not root"
is "memory: devices" "atbbridge-0 atbbridge-1 encoder-0 encoder-1 funnel-0 funnel-1 funnel-2 ramsink-0" \
	"$(tr '\n' ' ' <"$dir/share/devices" | sed 's/ $//')"
is "memory: the ETR is the only sink, writes frames, and does not stop" "1 16 0 framing = coresight" \
	"$(tr '\n' ' ' <"$dir/share/texts" | sed 's/ $//')"
is "memory: what a decoder must know, a file for each" \
	"dialect:1.0 framing:coresight mode:btm protocol:ntrace src_bits:12 timestamp:delta xlen:64" \
	"$(tr '\n' ' ' <"$dir/share/decoder" | sed 's/ $//')"
check "memory: what was decoded is what was executed" in_order threads all own
check "memory: by the rules" no_violations
check "memory: no complaint of the kernel" test -z "$(grep -E 'BUG|WARN|no answer|outside' "$dir/console")"
rm -rf "$guest_bin" "$capture"
done_testing
