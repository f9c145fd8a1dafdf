#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Control Transfer Records: the entries of each sample are those that the specification makes of
# what was executed before the interrupt that the sample was taken by. The same tests for both
# layouts.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../ctr-lib.sh"
# The short test has the same name, and may run beside this one.
test_name=ctr-long
guest_bin=$TOP/build/guest/bin-$test_name

filters='no_exceptions no_interrupts no_trap_returns no_taken no_indirect_calls no_direct_calls
	no_indirect_jumps no_direct_jumps no_swaps no_returns no_other_indirect no_other_direct'
# What each of them leaves out.
declare -A left_out=([no_exceptions]=exception [no_interrupts]=interrupt [no_trap_returns]=trap-return
	[no_taken]=taken [no_indirect_calls]=indirect-call [no_direct_calls]=call
	[no_indirect_jumps]=indirect-jump [no_direct_jumps]=jump [no_swaps]=swap [no_returns]=return
	[no_other_indirect]=other-indirect [no_other_direct]=other-jump)

check "cross-compile the workloads" workload transfers -static -g
check "cross-compile the pair of tasks" workload pair -static

only_exceptions=no_trap_returns=1,no_interrupts=1,no_taken=1,no_indirect_calls=1,no_direct_calls=1,no_indirect_jumps=1
only_exceptions+=,no_direct_jumps=1,no_swaps=1,no_returns=1,no_other_indirect=1,no_other_direct=1,depth=64

# What stock perf of the guest makes of an injected recording.
stock='
		perf-rvtrace inject -i user.data -o user.injected || exit 6
		perf script -i user.injected -F ip,brstack > brstack || exit 7
		perf script -i traps.injected -F ip,brstack > brstack-traps || exit 7
		perf report -i user.injected -b --stdio > report-b || exit 8
		perf report -i user.injected -b --stdio --sort mispredict > report-m || exit 8
		perf annotate -i user.injected --stdio -s odd_jumps > annotate || exit 9'

test_modes()
{
	local kernel=$1

	ctr_guest "modes-$kernel" "$kernel" overflow=100000 "
		rec user riscv_ctr//u -c 500000
		rec both riscv_ctr/depth=64/ -c 500000
		rec kernel riscv_ctr/depth=64/k -c 500000
		rounds=6000 rec cycles riscv_ctr/trigger=1/ -c 100000
		rounds=6000 rec instructions riscv_ctr/trigger=2,not_taken=1/u -c 100000
		rec traps riscv_ctr/$only_exceptions/ -c 2000000
		perf-rvtrace inject -i traps.data -o traps.injected || exit 6
		$stock"
	ok $? "$layout, $kernel: user and kernel transfers are recorded; inject; the module unloads"
	check "$layout, $kernel: user: equals what was executed" equals user 20
	check "$layout, $kernel: every kind of jump is among them" \
		has user taken jump call indirect-call return swap \
		indirect-jump other-jump other-indirect
	check "$layout, $kernel: user: no address of the kernel" each user \
		'/^entry/ { n++; if ($3 ~ /^ffffffff/ || $4 ~ /^ffffffff/) bad++ }'
	check "$layout, $kernel: user and kernel: equals what was executed, without the handler's own" equals both 20
	check "$layout, $kernel: kernel: equals what was executed" equals kernel 20
	check "$layout, $kernel: kernel: traps from user code have no source, returns to it no target" each kernel '
		/^entry/ && ($2 == 1 || $2 == 2) && $3 == 0 && $4 ~ /^ffffffff/ { n++ }
		/^entry/ && $2 == 3 && $3 ~ /^ffffffff/ && $4 == 0 { n++ }
		/^entry/ && ($3 != 0 && $3 !~ /^ffffffff/ || $4 != 0 && $4 !~ /^ffffffff/) { bad++ }'
	check "$layout, $kernel: cycles: equals what was executed up to the sampled instruction" \
		equals cycles 10
	check "$layout, $kernel: cycles: frozen before the handler came, nothing of its own" \
		each cycles \
		'/^sample/ { n++; if ($9 != 1 || $13) bad++ }'
	check "$layout, $kernel: instructions, user only: equals what was executed" \
		equals instructions 5
	check "$layout, $kernel: all depths are offered" \
		grep -qx '16 32 64 128 256' "$dir/share/caps"
	check "$layout, $kernel: stock perf script prints the branch stacks" \
		grep -q '0x[0-9a-f]*/0x[0-9a-f]*/[MP]/-/-/[0-9]*/CALL' "$dir/share/brstack"
	check "$layout, $kernel: exceptions alone: equals what was executed" equals traps 5
	check "$layout, $kernel: of exceptions only ecalls are system calls" syscalls_are_ecalls
	check "$layout, $kernel: stock perf report -b knows the functions" \
		grep -q '\[\.\] [a-z_].*\[\.\] [a-z_]' "$dir/share/report-b"
	check "$layout, $kernel: stock perf annotate has counts at instructions" \
		grep -qE '^ +[0-9]+\.[0-9]+ .*[0-9a-f]+:' "$dir/share/annotate"
	check "$layout, $kernel: a profile is made" llvm_profile
	if [ -n "$(llvm_profgen)" ]; then
		check "$layout, $kernel: llvm-profgen accepts it" llvm_accepts "$(llvm_profgen)"
	else
		ok 0 "$layout, $kernel: llvm-profgen # skip none of LLVM 19 or newer here (Debian: package llvm-19)"
	fi
	[ "$layout" = draft ] || return 0
	check "$layout, $kernel: the driver found it" grep -qx 0.1.4 "$dir/share/caps"
	check "$layout, $kernel: cycle counts are valid but for the first after a clear" each user \
		'/^entry/ { all++; valid += $6 } END { n = all; bad = valid < all * 0.9 }'
	check "$layout, $kernel: stock perf script prints mispredictions and cycles" \
		grep -q '/M/-/-/[1-9][0-9]*/COND' "$dir/share/brstack"
	check "$layout, $kernel: stock perf report sorts by misprediction" \
		grep -qE '%.* (Y|N) ' "$dir/share/report-m"
}

# The kernel's ecalls are SBI calls, of which nothing is recorded: all others are from user code.
syscalls_are_ecalls()
{
	local at n=0

	riscv64-linux-gnu-objdump -d "$dir/share/transfers" |
		awk '$3 == "ecall" { sub(":", "", $1); print $1 }' >"$dir/ecalls"
	ctr_raw traps | awk '/^entry 1 / { print $3 }' | sort -u >"$dir/exceptions"
	grep -oE '0x[0-9a-f]+/0x[0-9a-f]+/[^ ]*/SYSCALL' "$dir/share/brstack-traps" |
		sed 's/^0x//; s,/.*,,' |
		sort -u >"$dir/syscalls"
	while read -r at; do
		grep -qx "$at" "$dir/ecalls" || { echo "$at is no ecall"; return 1; }
		n=$((n + 1))
	done <"$dir/syscalls"
	# Every ecall among the exceptions is there, and other exceptions are not.
	[ "$(grep -cxFf "$dir/ecalls" "$dir/exceptions")" -eq "$n" ] && [ "$n" -gt 0 ]
}

# The newest llvm-profgen there is; before 19 it does not know RISC-V.
llvm_profgen()
{
	local candidate found=

	for candidate in $(command -v llvm-profgen) /usr/lib/llvm-*/bin/llvm-profgen; do
		[ ! -x "$candidate" ] || ! "$candidate" --version |
			grep -qE 'version (19|[2-9][0-9])' || found=$candidate
	done
	echo "$found"
}

llvm_profile()
{
	"$HOST/perf-rvtrace" profile -f llvm -i "$dir/share/user.data" --symfs "$dir/share" \
		--dso transfers \
		-o "$dir/llvm.prof" && grep -qE '^[0-9a-f]+->[0-9a-f]+:[0-9]+' "$dir/llvm.prof"
}

# llvm_accepts TOOL: its profile has the functions of the program.
llvm_accepts()
{
	"$1" --unsymbolized-profile="$dir/llvm.prof" --binary="$dir/share/transfers" --format=text \
		--output="$dir/llvm.out" &&
		grep -E '^(main|deep|leaf|leave|odd_jumps):[0-9]+:' "$dir/llvm.out"
}

test_options()
{
	local kernel=$1 depth n_rounds=2000

	# QEMU's own records cost little, so that the program takes few samples.
	[ "$layout" = draft ] || n_rounds=20000
	ctr_guest options "$kernel" '' "
		for depth in 16 32 64 128 256; do rounds=4000 rec depth\$depth riscv_ctr/depth=\$depth/u -c 500000; done
		rounds=4000 rec not_taken riscv_ctr/not_taken=1/u -c 500000
		rounds=4000 rec external riscv_ctr/external_traps=1/u -c 500000
		rounds=20000 rec ras riscv_ctr/ras=1/u -c 500000
		rec ras_both riscv_ctr/ras=1,depth=64/ -c 500000
		perf-rvtrace record -q -o breakpoints.data -e riscv_ctr/breakpoint_freeze=1/u -c 200000 -- \
			transfers $n_rounds breakpoints || exit 6
		refused riscv_ctr/depth=17/u
		refused riscv_ctr/depth=8/u
		refused riscv_ctr/depth=512/u
		refused riscv_ctr/trigger=9/u
		refused riscv_ctr//uG
		perf-rvtrace record -q -o host.data -e riscv_ctr//uH -- true || exit 7
		perf-rvtrace inject -i ras.data -o ras.injected || exit 8
		perf report -i ras.injected --stdio -g > report-g || exit 9"
	ok $? "$layout: depths, not-taken branches, external traps, RAS emulation; nonsense and guests are refused"
	for depth in 16 32 64 128 256; do
		check "$layout: depth $depth: equals what was executed, and wraps" \
			equals "depth$depth" 10
		check "$layout: depth $depth: some samples are full" \
			sh -c "! grep ' full 0$' '$dir/depth$depth.types'"
	done
	check "$layout: not-taken branches: equals what was executed" equals not_taken 20
	check "$layout: not-taken branches: there are such" has not_taken not-taken taken
	check "$layout: external traps: equals what was executed, the interrupt first" \
		equals external 20
	check "$layout: external traps: there are such" has external interrupt
	check "$layout: RAS emulation, with swaps and longjmp: equals what was executed" \
		equals ras 20
	check "$layout: RAS emulation: calls only" has_not ras return jump taken indirect-jump
	check "$layout: RAS emulation, user and kernel: equals what was executed" equals ras_both 20
	check "$layout: RAS emulation: stock perf report -g shows the callers" \
		grep -qE -- '(--| {10,})main$' "$dir/share/report-g"
	check "$layout: breakpoints: equals what was executed, up to the breakpoint" \
		equals breakpoints 20
	check "$layout: breakpoints: some samples were frozen, some not" each breakpoints \
		'/^sample/ { if ($9 % 2) n++; else thawed++ } END { bad = !thawed }'
}

test_filters()
{
	local kernel=$1 filter

	ctr_guest filters "$kernel" '' "
		for filter in $(echo $filters); do rec \$filter riscv_ctr/\$filter=1,depth=256/ -c 1000000; done"
	ok $? "$layout: every filter is recorded with"
	for filter in $filters; do
		check "$layout: $filter: equals what was executed" equals "$filter" 10
		check "$layout: $filter: there are none of those" \
			has_not "$filter" "${left_out[$filter]}"
	done
}

# Records of one task never reach another's buffer; harts come and go; nobody takes the module away.
test_tasks()
{
	local kernel=$1

	ctr_guest tasks "$kernel" '' "
		perf-rvtrace record -q -o a.data -e riscv_ctr/depth=256/u -c 300000 -- pair a 700 > a.roles &
		a=\$!
		perf-rvtrace record -q -o b.data -e riscv_ctr/depth=256/ -c 300000 -- pair b 700 > b.roles || exit 6
		wait \$a || exit 7
		perf-rvtrace record -q -o fork.data -e riscv_ctr/depth=256/u -c 300000 -- pair fork 700 > fork.roles || exit 8
		perf-rvtrace record -q -a -o system.data -e riscv_ctr/depth=256/ -c 300000 -- pair fork 700 > system.roles || exit 9
		cat a.roles b.roles > ab.roles

		# harts that go and come
		rounds=20000 rec hotplug riscv_ctr//u -c 300000 &
		job=\$!
		until grep -q tid hotplug.out; do sleep 0.2; done 2> /dev/null
		for i in 1 2 3; do
			echo 0 > /sys/devices/system/cpu/cpu1/online || exit 10
			cat $ctr_sysfs/cpumask >> cpumask
			echo 1 > /sys/devices/system/cpu/cpu1/online || exit 11
			cat $ctr_sysfs/cpumask >> cpumask
		done
		wait \$job || exit 12
		# the module is in use
		perf-rvtrace record -q -o busy.data -e riscv_ctr//u -- sleep 5 &
		job=\$!
		until [ \$(cat /sys/module/riscv_ctr/refcnt) -gt 0 ]; do sleep 0.2; done
		if rmmod riscv_ctr 2> busy; then echo 'unloaded while in use'; exit 13; fi
		wait \$job || exit 13
		perf-rvtrace record -q -C 1 -o gone.data -e riscv_ctr// -c 300000 -- sh -c '
			echo 0 > /sys/devices/system/cpu/cpu1/online; transfers 200' > gone.out 2>&1
		perf-rvtrace record -q -C 1 -o bad.data -e riscv_ctr// -c 300000 -- true >> refused 2>&1 && exit 14
		echo 1 > /sys/devices/system/cpu/cpu1/online
		rec after riscv_ctr// -C 1 -c 300000
		rmmod riscv_ctr && insmod riscv_ctr.ko && rmmod riscv_ctr && insmod riscv_ctr.ko || exit 15"
	ok $? "$layout: several tasks, all tasks; harts go and come; a module in use stays"
	check "$layout: one of two tasks, user: equals what was executed" equals a 20
	check "$layout: the other, user and kernel: equals what was executed" equals b 20
	check "$layout: nothing of the other task in the one" apart a "$dir/share/ab.roles" 100
	check "$layout: nothing of the one in the other" apart b "$dir/share/ab.roles" 100
	check "$layout: parent and child: equals what was executed" equals fork 20
	check "$layout: parent and child are kept apart" apart fork "$dir/share/fork.roles" 100
	check "$layout: all tasks of all harts: equals what was executed" equals system 20
	check "$layout: all tasks of all harts: kept apart" \
		apart system "$dir/share/system.roles" 100
	check "$layout: a task while harts go and come: equals what was executed" equals hotplug 20
	check "$layout: cpumask follows" \
		sh -c "grep -qx 0 '$dir/share/cpumask' && grep -qx 0-1 '$dir/share/cpumask'"
	check "$layout: a hart that came back records" equals after 1
}

layout 1.0
test_modes stable
test_modes testing
test_options testing
test_filters testing
test_tasks testing
layout draft
test_modes testing
test_options stable
test_filters testing
test_tasks stable

# ---- harts that have less: the driver finds out, and says so ----

ctr_guest less testing max-depth=64,types=off,options=0x0000001000000006 '
	rec user riscv_ctr/depth=64,not_taken=1/u -c 500000
	refused riscv_ctr/depth=128/u
	refused riscv_ctr/ras=1/u
	refused riscv_ctr/breakpoint_freeze=1/u
	refused riscv_ctr/external_traps=1/u
	refused riscv_ctr/no_returns=1/u'
ok $? "few features: recorded; what is missing is refused"
check "few features: equals what was executed" equals user 20 --no-types
check "few features: caps" \
	sh -c "grep -qx '16 32 64' '$dir/share/caps' && grep -qx not_taken '$dir/share/caps'"
check "few features: entries of no type are no reason for warnings" \
	sh -c "'$HOST/perf-rvtrace' script \
	-i '$dir/share/user.data' --raw-pc 2>&1 >/dev/null | awk '/type/ { n++ } END { exit n > 1 }'"

# The logs are large.
[ "$test_failed" -ne 0 ] || rm -rf "$TOP/build/guest/$test_name"-*/log
done_testing
