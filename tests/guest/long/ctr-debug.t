#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver of Control Transfer Records in a kernel that checks itself (KASAN, lockdep ...): tasks
# that are switched and moved, triggers while harts go and come.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../ctr-lib.sh"

"$LAB" debug-kernel >"$TOP/build/guest/debug-kernel-ctr.log" 2>&1 ||
	skip_all "no debug kernel: $(tail -n 1 "$TOP/build/guest/debug-kernel-ctr.log")"
check "the driver is built for it" make -s -C "$TOP" build/driver/debug/rvtrace.ko
check "cross-compile the workload" workload transfers -static
check "cross-compile the deep stack" workload deep -static

check "the selftest compiles for the guest" make -s -C "$TOP" selftests
cp "$TOP/build/selftests/ctr" "$guest_bin/selftest-ctr"

GUEST_TIMEOUT=900
layout 1.0
ctr_guest silent debug '' '
	rounds=500 rec user riscv_ctr//u -c 2000000
	perf-rvtrace record -q -o deep.data -e riscv_ctr/depth=64,ras=1/u -c 10000000 -- \
		deep 20 1000000 > deep.out 2>&1 || exit 7
	rounds=3000 rec hotplug riscv_ctr//u -c 2000000 &
	job=$!
	until grep -q tid hotplug.out; do sleep 0.2; done 2> /dev/null
	for i in 1 2; do
		echo 0 > /sys/devices/system/cpu/cpu1/online || exit 10
		echo 1 > /sys/devices/system/cpu/cpu1/online || exit 11
	done
	wait $job || exit 12
	perf-rvtrace record -q -a -o all.data -e riscv_ctr// -c 10000000 -- \
		transfers 200 > all.out 2>&1 || exit 13
	selftest-ctr > ctr.tap 2>&1'
ok $? "tasks, moves, hotplug, all tasks: the kernel does not complain"
check "the selftest passes: defect 7 is gone, lockdep says nothing" tap_passed "$dir/share/ctr.tap"
check "the samples equal what was executed" equals user 1

[ "$test_failed" -ne 0 ] || rm -rf "$TOP/build/guest/$test_name"-*/log
done_testing
