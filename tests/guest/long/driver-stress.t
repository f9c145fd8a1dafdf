#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver in hard times, on both kernels: 10^4 starts and stops, recorders side by side, harts that come and go, sleep.
. "$(dirname "$0")/../lib.sh"

passed()
{
	grep -v '^ok' "$1"
	grep -q '^ok' "$1" && ! grep -q '^not ok' "$1" && grep -q '^1\.\.[1-9]' "$1"
}

check "the selftests compile for the guest" make -s -C "$TOP" selftests
mkdir -p "$guest_bin"
cp "$TOP/build/selftests/stress" "$guest_bin/selftest-stress"
for kernel in stable testing; do
	GUEST_TIMEOUT=900 guest "$kernel" "$kernel" '' "insmod rvtrace.ko || exit 1
		export RVTRACE_CYCLES=${RVTRACE_CYCLES:-10000}
		selftest-stress > stress.tap 2>&1
		rmmod rvtrace || exit 2
		dmesg | grep -E 'BUG:|WARNING:|Oops|lockup|rcu.*stall|no answer' > splats; true"
	ok $? "$kernel: the selftest ran, the module unloads"
	check "$kernel: stress" passed "$dir/share/stress.tap"
	check "$kernel: no complaint of the kernel" test ! -s "$dir/share/splats"
	check "$kernel: no rule of the control interface was broken" no_violations
done
rm -f "$guest_bin"/selftest-*
done_testing
