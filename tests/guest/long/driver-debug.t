#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver in a kernel that checks itself (KASAN, UBSAN, lockdep, DEBUG_OBJECTS, DMA debug,
# kmemleak): KUnit, the selftests, and memory that runs out. The kernel is built once, which takes
# about 14 minutes of a processor, and kept in the cache. Guests are ten times slower than usual:
# PARTS="kunit stress" runs these parts only; of the memory part, PARTS=inheriting runs one scene.
. "$(dirname "$0")/../lib.sh"

"$LAB" debug-kernel >"$TOP/build/guest/debug-kernel.log" 2>&1 ||
	skip_all "no debug kernel: $(tail -n 1 "$TOP/build/guest/debug-kernel.log")"
. "$(dirname "$0")/../driver-lib.sh"
check "the driver is built for it" \
	make -s -C "$TOP" build/driver/debug/rvtrace.ko build/driver/debug-kunit/rvtrace.ko

# part NAME: it is to be run.
part()
{
	[[ " ${PARTS:-kunit memory selftests stress shared removal sram power} " == *" $1 "* ]]
}

# no_leaks: nothing that the driver allocated was forgotten.
no_leaks()
{
	[ "$(tail -n 1 "$dir/share/leaks")" = "end of leaks" ] || { echo "nobody looked"; return 1; }
	! grep -B 20 -A 20 '\[rvtrace\]' "$dir/share/leaks"
}

# kunit_passed SUITE: what is indented by four in KUnit's KTAP is the tests' TAP.
kunit_passed()
{
	sed -n 's/^    \([^ ]\)/\1/p' "$dir/share/$1.kunit" >"$dir/$1.tap"
	tap_passed "$dir/$1.tap"
}

GUEST_TIMEOUT=${GUEST_TIMEOUT:-2400}
# The kernel looks for leaks when it is told to, and not by itself meanwhile. What is young, or was
# pointed to by chance, shows the second time.
scan_off='echo scan=off > /sys/kernel/debug/kmemleak;'
# shellcheck disable=SC2016 # for the guest
selftest_after='leaks=/sys/kernel/debug/kmemleak
	for scan in 1 2; do sleep 6; echo scan > $leaks || exit 3; done
	cat $leaks > leaks; echo "end of leaks" >> leaks'
if part kunit; then
	mkdir -p "$guest_bin"
	cp "$TOP/build/driver/debug-kunit/rvtrace.ko" "$guest_bin/rvtrace-kunit.ko"
	selftest_before="$scan_off insmod rvtrace-kunit.ko; for suite in rvtrace rvtrace_defects; do cat /sys/kernel/debug/kunit/\$suite/results > \$suite.kunit; done; rmmod rvtrace"
	selftests kunit debug '' basic
	check "kunit: nothing that the driver allocated was forgotten" no_leaks
	check "KUnit" kunit_passed rvtrace
	check "KUnit: defects that a review found" kunit_passed rvtrace_defects
	rm -f "$guest_bin/rvtrace-kunit.ko"
fi
for scene in recording overwriting filtering inheriting loading; do
	part memory || part $scene || continue
	# The kernel's own tracing warns where it had no memory for the tracepoints of a module,
	# whichever that is.
	[ $scene != loading ] || expected='WARNING: kernel/trace/trace_events\.c:[0-9]+ at event_(define_fields|file_put)'
	selftest_before="$scan_off cp rvtrace.ko /tmp/; export RVTRACE_MODULE=/tmp/rvtrace.ko RVTRACE_LOADS=50 RVTRACE_SCENES=$scene"
	selftests $scene debug '' memory
	check "$scene: nothing that the driver allocated was forgotten" no_leaks
done
expected='^$'

# Looking for leaks is half of the time.
lab_options='--append kmemleak=off --append iomem=relaxed'
selftest_before="export RVTRACE_TRIGGER_REGISTER=0xe00 RVTRACE_CYCLES=${RVTRACE_CYCLES:-300}"
selftest_after=
if part selftests; then
	selftests selftests debug user-io=on basic modes switches filters safety life copies flight
fi
if part stress; then
	selftests stress debug '' stress suspend
fi
if part shared; then
	hook_options='--topology funnel'
	selftests shared debug topology=funnel shared flight
fi
if part removal; then
	hook_options='--topology funnel'
	removals removal debug topology=funnel encoder-1 funnel-0 ramsink-0
	hook_options=
fi
if part sram; then
	selftests sram debug own-hart=on,sram=16384,smem=off flight
fi
if part power; then
	check "power: the module of the power domain is built" helper_modules debug rvt_power
	selftest_before="insmod rvt_power.ko || exit 5; $selftest_before"
	hook_options=--power
	selftests power debug power=on,own-hart=on basic life suspend flight
	hook_options='--power --clock --topology funnel'
	selftests power-funnel debug power=on,topology=funnel suspend shared
fi
rm -rf "$guest_bin"
done_testing
