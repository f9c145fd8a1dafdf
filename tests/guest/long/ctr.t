#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Control Transfer Records: the entries of each sample are those that the specification makes of what was
# executed before the interrupt that the sample was taken by.
. "$(dirname "$0")/../lib.sh"

# ctr_guest NAME KERNEL MODEL-ARGS LAB-OPTIONS SCRIPT: as guest(), with riscv_ctr.ko and the model of CTR.
ctr_guest()
{
	local name=$1 kernel=$2 model=$3 options=$4 script=$5

	dir=$TOP/build/guest/$test_name-$name
	rm -rf "$dir"
	mkdir -p "$dir/share" "$dir/log"
	cp "$TOP/build/riscv64/perf-rvtrace" "$TOP/build/driver/$kernel/riscv_ctr.ko" \
		"$guest_bin/transfers" "$dir/share/"
	cat >"$dir/share/run" <<-END
		cd /mnt/share || exit 1
		export PATH=/mnt/share:\$PATH
		insmod riscv_ctr.ko || exit 1
		# rec NAME EVENT [options of record]
		rec()
		{
			local name=\$1 event=\$2
			shift 2
			perf-rvtrace record -q -o \$name.data -e \$event "\$@" -- transfers 3000 > \$name.out 2>&1 || {
				echo "recording \$name failed"; cat \$name.out; exit 2; }
		}
		$script
		rmmod riscv_ctr || exit 3
	END
	# shellcheck disable=SC2086
	"$LAB" run --kernel "$kernel" --smp 2 $options --share "$dir/share" --timeout "${GUEST_TIMEOUT:-600}" \
		--plugin "$TOP/build/model/rvtrace-ctr.so,log=$dir/log${model:+,$model}" -- \
		sh /mnt/share/run >"$dir/output" 2>&1
}

# equals NAME MIN [rvt-ctr-check options]: the samples of the recording are right; their types are in $dir/NAME.types
equals()
{
	local name=$1 min=$2
	shift 2
	"$HOST/rvt-ctr-check" "$@" --min "$min" "$dir/log" "$dir/share/$name.data" | tee "$dir/$name.types"
	return "${PIPESTATUS[0]}"
}

# has NAME TYPE...: such entries there are; has_not: there are none.
has()
{
	local name=$1 type
	shift
	for type; do grep -q "^type $type " "$dir/$name.types" || { echo "no $type"; return 1; }; done
}

has_not()
{
	local name=$1 type
	shift
	for type; do ! grep "^type $type " "$dir/$name.types" || return 1; done
}

filters='no_exceptions no_interrupts no_trap_returns no_taken no_indirect_calls no_direct_calls
	no_indirect_jumps no_direct_jumps no_swaps no_returns no_other_indirect no_other_direct'
# What each of them leaves out.
declare -A left_out=([no_exceptions]=exception [no_interrupts]=interrupt [no_trap_returns]=trap-return
	[no_taken]=taken [no_indirect_calls]=indirect-call [no_direct_calls]=call
	[no_indirect_jumps]=indirect-jump [no_direct_jumps]=jump [no_swaps]=swap [no_returns]=return
	[no_other_indirect]=other-indirect [no_other_direct]=other-jump)

check "cross-compile the workload" workload transfers -static

# ---- version 1.0, which QEMU has ----

for kernel in stable testing; do
	ctr_guest "one-$kernel" $kernel '' '' '
		cat /sys/bus/event_source/devices/riscv_ctr/caps/* > caps
		rec user riscv_ctr//u -c 500000
		rec both riscv_ctr/depth=64/ -c 500000
		perf-rvtrace inject -i user.data -o user.injected || exit 4
		perf script -i user.injected -F ip,brstack > brstack || exit 5
		perf report -i user.injected -b --stdio > report-b || exit 6
		perf annotate -i user.injected --stdio > annotate || exit 7'
	ok $? "$kernel: user and kernel transfers are recorded; inject; the module unloads"
	check "$kernel: user: equals what was executed" equals user 20
	check "$kernel: user and kernel: equals what was executed, without the handler's own" equals both 20
	check "$kernel: every kind of jump is among them" has user taken jump call indirect-call return swap \
		indirect-jump other-jump other-indirect
	check "$kernel: no kernel address in user records" sh -c "! '$HOST/perf-rvtrace' script -i \
		'$dir/share/user.data' --raw-pc | grep '^entry.* ffffffff'"
	check "$kernel: all depths are offered" grep -qx '16 32 64 128 256' "$dir/share/caps"
	check "$kernel: stock perf script prints the branch stacks" \
		grep -q '0x[0-9a-f]*/0x[0-9a-f]*/P/-/-/0/CALL' "$dir/share/brstack"
	check "$kernel: stock perf report -b knows the functions" grep -q '\[\.\] [a-z_].*\[\.\] [a-z_]' "$dir/share/report-b"
done

ctr_guest options testing '' '' "
	for depth in 16 32 64 128 256; do rec depth\$depth riscv_ctr/depth=\$depth/u -c 500000; done
	rec not_taken riscv_ctr/not_taken=1/u -c 500000
	rec external riscv_ctr/external_traps=1/u -c 500000
	rec ras riscv_ctr/ras=1/u -c 500000
	rec ras_both riscv_ctr/ras=1,depth=64/ -c 500000
	perf-rvtrace record -q -o bad -e riscv_ctr/depth=17/u -- true && exit 4
	perf-rvtrace record -q -o bad -e riscv_ctr/depth=8/u -- true && exit 4
	perf-rvtrace record -q -o bad -e riscv_ctr/trigger=9/u -- true && exit 4
	perf-rvtrace inject -i ras.data -o ras.injected || exit 5
	perf report -i ras.injected --stdio -g > report-g || exit 6"
ok $? "depths, not-taken branches, external traps, RAS emulation are recorded; nonsense is refused"
for depth in 16 32 64 128 256; do
	check "depth $depth: equals what was executed, and wraps" equals depth$depth 20
	check "depth $depth: some samples are full" sh -c "! grep ' full 0$' '$dir/depth$depth.types'"
done
check "not-taken branches: equals what was executed" equals not_taken 20
check "not-taken branches: there are such" has not_taken not-taken taken
check "external traps: equals what was executed, the interrupt first" equals external 20
check "external traps: there are such" has external interrupt
check "RAS emulation, with swaps and longjmp: equals what was executed" equals ras 20
check "RAS emulation: calls only" has_not ras return jump taken indirect-jump
check "RAS emulation, user and kernel: equals what was executed" equals ras_both 20
check "RAS emulation: stock perf report -g shows the callers" grep -q -- '---main' "$dir/share/report-g"

ctr_guest filters testing '' '' "
	for filter in $(echo $filters); do rec \$filter riscv_ctr/\$filter=1,depth=256/ -c 1000000; done"
ok $? "every filter is recorded with"
for filter in $filters; do
	check "$filter: equals what was executed" equals "$filter" 10
	check "$filter: there are none of those" has_not "$filter" "${left_out[$filter]}"
done

# ---- hardware counters: the model delivers the interrupt, which freezes ----

ctr_guest overflow testing overflow=100000 '' "
	rec cycles riscv_ctr/trigger=1/ -c 100000
	rec instructions riscv_ctr/trigger=2,not_taken=1/u -c 100000"
ok $? "hardware counters as triggers"
check "cycles: equals what was executed up to the sampled instruction" equals cycles 10
check "cycles: frozen before the handler came, nothing of its own" sh -c "'$HOST/perf-rvtrace' script -i \
	'$dir/share/cycles.data' --raw-pc | awk '/^sample/ { n++; if (\$9 != 1 || \$13) bad = 1 } END { exit bad || !n }'"
check "instructions, user only: equals what was executed" equals instructions 5

# ---- draft 0.1.4: the model has its registers ----

draft_hook=$TOP/build/guest/ctr-draft-hook
cat >"$draft_hook" <<-'END'
	#!/bin/sh
	# Puts the version into every cpu node.
	exec sed -i 's/^\([[:space:]]*\)device_type = "cpu";/&\n\1rvtrace,ctr-version = "0.1.4";/' "$1"
END
chmod +x "$draft_hook"
draft_options="--cpu rv64,smcsrind=on,sscsrind=on,sscofpmf=on --dtb-hook $draft_hook"

ctr_guest draft testing draft=on,overflow=100000 "$draft_options" "
	cat /sys/bus/event_source/devices/riscv_ctr/caps/version > version
	rec user riscv_ctr//u -c 500000
	rec both riscv_ctr/depth=64/ -c 500000
	rec external riscv_ctr/external_traps=1/u -c 500000
	rec ras riscv_ctr/ras=1/u -c 500000
	rec cycles riscv_ctr/trigger=1/ -c 100000
	for filter in no_returns no_taken no_interrupts; do rec \$filter riscv_ctr/\$filter=1/ -c 1000000; done"
ok $? "draft 0.1.4: recorded"
check "draft 0.1.4 is what the driver found" grep -qx 0.1.4 "$dir/share/version"
for name in user both external ras cycles no_returns no_taken no_interrupts; do
	check "draft 0.1.4, $name: equals what was executed" equals $name 10 --draft
done
check "draft 0.1.4: cycle counts are valid but for the first after a clear" sh -c "'$HOST/perf-rvtrace' script \
	-i '$dir/share/user.data' --raw-pc | awk '/^entry/ { n++; valid += \$6 } END { exit !(n && valid > n * 0.9) }'"

# The logs are large.
[ "$test_failed" -ne 0 ] || rm -rf "$TOP"/build/guest/ctr-*/log
done_testing
