#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver as a module of a kernel that has the series of upstream/kernel in its tree: the selftests
# pass, and what is recorded is what was executed.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"
. "$(dirname "$0")/../native-lib.sh"

"$LAB" debug-kernel series >"$TOP/build/guest/series-kernel.log" 2>&1 ||
	skip_all "no kernel with the series: $(tail -n 1 "$TOP/build/guest/series-kernel.log")"
root=$("$LAB" path kernel-series)
mkdir -p "$TOP/build/driver/series"
cp "$root"/usr/lib/modules/*/kernel/rvtrace.ko "$TOP/build/driver/series/"
check "the module is of the kernel's tree" \
	test "$("$LAB" in modinfo -F intree "$TOP/build/driver/series/rvtrace.ko")" = Y

selftests direct series '' basic modes switches filters safety life copies suspend
hook_options='--topology funnel'
selftests funnel series topology=funnel shared
hook_options=

for protocol in N-Trace E-Trace; do
	hook_options=
	args=
	if [ $protocol = E-Trace ]; then
		hook_options="--params $TOP/tools/model/params/etrace-2.0"
		args="etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"
	fi
	guest $protocol series "$args" '
		insmod rvtrace.ko || exit 1
		perf-rvtrace record -q -o /tmp/user.data -e rvtrace//u -- sh -c "ls -l /usr/bin | sort | md5sum" > /dev/null || exit 2
		perf-rvtrace record -q -a -m ,16M -o /tmp/all.data -e rvtrace// -- ls / > /dev/null || exit 3
		mv /tmp/user.data /tmp/all.data . && rmmod rvtrace'
	ok $? "$protocol: a program and the whole machine are recorded"
	for recording in user all; do
		check "$protocol: $recording: equals the truth" equals_truth "$dir/share/$recording.data" --lossy --min 10000
	done
	check "$protocol: no complaint of the kernel" quiet "$dir/console"
	check "$protocol: no rule of the control interface was broken" no_violations
done
# With perf of the other series, where it is built
if native_built; then
	native_guest_programs
	hook_options=
	native_tests perf series ''
else
	skip "perf's own tests" "$native_missing"
fi
rm -rf "$guest_bin"
done_testing
