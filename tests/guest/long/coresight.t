#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# CoreSight behind a K3's bridges: four harts at once, none of which can drain the sink alone, and
# harts that go and come meanwhile; a snapshot. The selftests read
# messages, not frames, so they are not for this.
. "$(dirname "$0")/../lib.sh"

chip=topology=k3-etr,own-hart=on,modes=3,sync-modes=2,warl-features=0xffff0000
hook_options='--topology k3-etr'
check "cross-compile the program" workload mixture -static

lab_options='--smp 4'
guest four stable "$chip,late-reads=5,wp-lag=64" '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -a -m ,32M -o all.data -e rvtrace//u -- \
		sh -c "for i in 0 1 2 3; do taskset \$((1 << i)) mixture forked & done; wait" || exit 2
	perf-rvtrace record -q -a -m ,8M -o hotplug.data -e rvtrace//u -- sh -c "
		for i in 1 2 3; do mixture forked & done
		for i in 3 2 1; do
			echo 0 > /sys/devices/system/cpu/cpu\$i/online && echo 1 > /sys/devices/system/cpu/cpu\$i/online || exit 1
		done
		wait" || exit 3
	rmmod rvtrace'
ok $? "four harts are recorded"
check "four: what was decoded is what was executed" in_order all hotplug
check "four: by the rules" no_violations
check "four: no complaint of the kernel" test -z "$(grep -E 'BUG|WARN|no answer|outside' "$dir/console")"

# The last part of the trace is in the buffer when it is read, from the midst of a message on.
lab_options='--smp 1'
guest round stable "$chip" '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -S -m ,16K -o round.data -e rvtrace//u -- mixture forked || exit 2
	rmmod rvtrace'
ok $? "a snapshot is taken of a buffer that goes round"
part()
{
	equals_truth "$dir/share/round.data" --lossy --min 5000 || return
	[ "$("$HOST/perf-rvtrace" stat -i "$dir/share/round.data" --symfs "$dir/share" | awk '$1 == "all" { print $3 }')" -lt 100000 ]
}
check "round: what is left is what was executed, and it is not all" part
check "round: by the rules" no_violations
rm -rf "$guest_bin"
done_testing
