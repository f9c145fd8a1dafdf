#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver in a kernel that looks for races of data (KCSAN): no access of the driver's races with
# another. The kernel is built once, which takes about 14 minutes of a processor, and kept in the
# cache. PARTS="selftests stress" runs these parts only.
. "$(dirname "$0")/../lib.sh"

"$LAB" debug-kernel kcsan >"$TOP/build/guest/kcsan-kernel.log" 2>&1 ||
	skip_all "no kernel with KCSAN: $(tail -n 1 "$TOP/build/guest/kcsan-kernel.log")"
. "$(dirname "$0")/../driver-lib.sh"
check "the driver is built for it" make -s -C "$TOP" build/driver/kcsan/rvtrace.ko

# part NAME: it is to be run.
part()
{
	[[ " ${PARTS:-selftests stress shared} " == *" $1 "* ]]
}

# The search finds a report of the driver, and no others.
found_race()
{
	dir=$(mktemp -d)
	printf '%s\r\n' '====' '[1] BUG: KCSAN: data-race in a / b' 'write to 0xff of 8 bytes by task 73 on cpu 0:' \
		' list_add+0x1/0x2' ' a+0x1/0x2 [rvtrace]' '======' \
		'[2] BUG: KCSAN: data-race in c / d' 'write to 0xff of 8 bytes by interrupt on cpu 1:' ' c+0x1/0x2' \
		' e+0x1/0x2' ' f+0x1/0x2' ' rvtrace_exit+0x1/0x2 [rvtrace]' 'CPU: 0 7.2.12-rvtrace-kcsan' '======' \
		'[3] BUG: KCSAN: data-race in c / d' 'read to 0xff of 2 bytes by task 73 on cpu 0:' \
		' print_report+0x1/0x2' ' __tsan_read2+0x1/0x2' ' do_raw_spin_lock+0x1/0x2' ' _raw_spin_lock+0x1/0x2' \
		' f+0x1/0x2 [rvtrace]' '======' >"$dir/console"
	is "a report of the driver is found whole, others are not" "[1] 5" \
		"$(races_of_driver | grep -o '\[[0-9]\]') $(races_of_driver | wc -l)"
	rm -r "$dir"
}
found_race

GUEST_TIMEOUT=${GUEST_TIMEOUT:-2400}
# What KCSAN says is looked at in no_races.
expected='BUG: KCSAN'
lab_options="--append iomem=relaxed $races_options"
check "a module that has a race is built" helper_modules kcsan rvt_race
selftest_before="$races_before
	export RVTRACE_TRIGGER_REGISTER=0xe00 RVTRACE_CYCLES=${RVTRACE_CYCLES:-300}"
selftest_after=$races_after
if part selftests; then
	selftests selftests kcsan user-io=on basic modes switches filters safety life
	check "selftests: no races of the driver" no_races
fi
if part stress; then
	selftests stress kcsan user-io=on stress
	check "stress: no races of the driver" no_races
fi
if part shared; then
	hook_options='--topology funnel'
	selftests shared kcsan topology=funnel shared
	check "shared: no races of the driver" no_races
fi
rm -rf "$guest_bin"
done_testing
