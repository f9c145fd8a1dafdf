#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver's selftests, as they run on a board, on both kernels.
. "$(dirname "$0")/lib.sh"

# passed FILE: a TAP report that is complete and has no failure.
passed()
{
	grep -v '^ok' "$1"
	grep -q '^ok' "$1" && ! grep -q '^not ok' "$1" && grep -q '^1\.\.' "$1"
}

check "the selftests compile for the guest" make -s -C "$TOP" selftests
mkdir -p "$guest_bin"
for kernel in stable testing; do
	for program in basic modes safety life copies; do
		cp "$TOP/build/selftests/$program" "$guest_bin/selftest-$program"
	done
	guest "selftests-$kernel" $kernel '' "insmod rvtrace.ko || exit 1
		for program in basic modes safety life copies; do
			selftest-\$program > \$program.tap 2>&1
		done
		dmesg | grep -E 'BUG:|WARNING:|Oops|lockup|rcu.*stall|no answer' > splats; true"
	ok $? "$kernel: the selftests ran"
	for program in basic modes safety life copies; do
		check "$kernel: $program" passed "$dir/share/$program.tap"
	done
	check "$kernel: no complaint of the kernel" test ! -s "$dir/share/splats"
	check "$kernel: no rule of the control interface was broken" no_violations
done

cp "$TOP/build/selftests/shared" "$guest_bin/selftest-shared"
hook_options='--topology funnel'
guest selftests-funnel testing topology=funnel "insmod rvtrace.ko || exit 1
	selftest-shared > shared.tap 2>&1; rmmod rvtrace"
ok $? "one sink for two harts: the selftest ran, the module unloads"
check "one sink for two harts: each sees what is his" passed "$dir/share/shared.tap"
check "one sink for two harts: no rule of the control interface was broken" no_violations
rm -f "$guest_bin"/selftest-*
done_testing
