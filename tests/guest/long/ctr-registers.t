#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Registers of Control Transfer Records as the kernel sees them, WRPTR, WRAP, FROZEN and the clear,
# in both layouts; and firmware that withholds them.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../ctr-lib.sh"

# run_registers KERNEL MODEL: loads the module of the test, which prints and goes.
run_registers()
{
	local kernel=$1 model=$2

	dir=$TOP/build/guest/$test_name-$layout
	rm -rf "$dir"
	mkdir -p "$dir/share" "$dir/module"
	cp "$TOP"/tests/guest/module-ctr/* "$dir/module"
	"$LAB" kmake --kernel "$kernel" "$dir/module" modules >"$dir/kmake" 2>&1 ||
		{ cat "$dir/kmake"; return 1; }
	cp "$dir/module/rvt_ctr_status.ko" "$dir/share"
	# shellcheck disable=SC2086
	"$LAB" run --kernel "$kernel" --smp 1 $layout_options --share "$dir/share" \
		--timeout 200 ${model:+--plugin "$TOP/build/model/rvtrace-ctr.so,$model"} -- \
		sh -c "cd /mnt/share; insmod rvt_ctr_status.ko draft=$([ "$layout" = draft ] && echo 1 || echo 0)
			dmesg | sed -n 's/.*ctr-status //p' > status" >"$dir/output" 2>&1
	[ -s "$dir/share/status" ] || { tail -n 20 "$dir/output"; return 1; }
}

# line NAME: what the registers were there
line() { sed -n "s/^$1: //p" "$dir/share/status"; }

for setting in 1.0:testing draft:stable; do
	layout "${setting%:*}"
	check "$layout: the registers are read in S mode" run_registers "${setting#*:}" "$layout_model"
	# 1.0 has no WRAP.
	[ "$layout" = draft ] && wrap=1 || wrap=0
	is "$layout: cleared" "wrptr 0 wrap 0 frozen 0 valid 0" "$(line cleared)"
	is "$layout: WRPTR counts records" "wrptr 5 wrap 0 frozen 0 valid 5" "$(line '5 jumps')"
	is "$layout: behind the last entry comes the first" "wrptr 0 wrap $wrap frozen 0 valid 16" \
		"$(line '16 jumps')"
	is "$layout: WRAP stays" "wrptr 5 wrap $wrap frozen 0 valid 16" "$(line '21 jumps')"
	is "$layout: FROZEN, written by software, ends recording" "wrptr 5 wrap 0 frozen 1 valid 16" \
		"$(line '5 while frozen')"
	is "$layout: cleared again" "wrptr 0 wrap 0 frozen 0 valid 0" "$(line 'cleared again')"
	is "$layout: RAS emulation: a return takes its call back" "wrptr 0 wrap 0 frozen 0 valid 0" \
		"$(line 'calls that return')"
	is "$layout: RAS emulation: calls stay" "wrptr 2 wrap 0 frozen 0 valid 2" "$(line 'two calls')"
done

# The devicetree promises the draft's registers, which nobody has without the model.
layout draft
dir=$TOP/build/guest/$test_name-withheld
rm -rf "$dir"
mkdir -p "$dir/share"
cp "$TOP/build/riscv64/perf-rvtrace" "$TOP/build/driver/testing/riscv_ctr.ko" "$dir/share"
# shellcheck disable=SC2086
"$LAB" run --kernel testing --smp 2 $layout_options --share "$dir/share" --timeout 200 -- \
	sh -c 'cd /mnt/share; insmod riscv_ctr.ko 2> insmod && exit 3
		dmesg > dmesg; ./perf-rvtrace list > list 2>&1; exit 0' >"$dir/output" 2>&1
ok $? "withheld registers: the driver does not load"
check "withheld registers: the kernel log says that firmware has to set mstateen0" \
	grep 'no hart lets the kernel use them; firmware has to set mstateen0' "$dir/share/dmesg"
check "withheld registers: list says which bits" \
	grep -E 'bits 54 \(CTR; 55 in draft 0.1.4\) and 60 \(CSRIND\) of mstateen0' "$dir/share/list"
done_testing
