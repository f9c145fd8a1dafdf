#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Processes do with the PMU what they may and may not, at random, as root and as nobody: in the stock
# kernel, in the kernel that checks itself and in the one that looks for races, where those are
# built. Harts come and go. The machine has interrupts by messages (IMSIC), for without them remote
# fences go through the firmware, which waits for harts that are down (Documentation/testing.rst).
# RVTRACE_SECONDS: how long in each of three rounds; RVTRACE_SEED; KERNELS="debug kcsan".
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

seconds=${RVTRACE_SECONDS:-120}
GUEST_TIMEOUT=${GUEST_TIMEOUT:-$((6 * seconds + 1200))}
keep_truth=
# What the driver says of events that it refuses is no complaint. KCSAN's reports are looked at below.
expected='BUG: KCSAN'
seeds="export RVTRACE_SECONDS=$seconds RVTRACE_HOTPLUG=${RVTRACE_HOTPLUG:-1} RVTRACE_CONTROL=${RVTRACE_CONTROL:-0} RVTRACE_SEED=${RVTRACE_SEED:-$(date +%j)}"
for kernel in ${KERNELS:-testing debug kcsan}; do
	case $kernel in
	debug | kcsan)
		"$LAB" path kernel-$kernel >/dev/null 2>&1 ||
			{ skip "$kernel" "not built: tools/lab/lab debug-kernel $kernel"; continue; }
		check "the driver is built for $kernel" make -s -C "$TOP" build/driver/$kernel/rvtrace.ko
		;;
	esac
	lab_options='--append kmemleak=off --smp 4 --machine aia=aplic-imsic'
	selftest_before=$seeds
	selftest_after=
	if [ $kernel = kcsan ]; then
		check "kcsan: a module that has a race is built" helper_modules kcsan rvt_race
		lab_options+=" $races_options"
		selftest_before="$races_before
			$seeds"
		selftest_after=$races_after
	fi
	selftests $kernel $kernel '' random
	grep -h '^ok\|^not ok' "$dir/share/random.tap" | sed 's/^/# /'
	[ $kernel != kcsan ] || check "kcsan: no races of the driver" no_races
done
rm -rf "$guest_bin"
done_testing
