#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Control Transfer Records in short; long/ctr.t has the rest.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ctr-lib.sh"

check "cross-compile the workload" workload transfers -static
check "cross-compile the deep stack" workload deep -static

layout 1.0
ctr_guest short testing '' '
	rec user riscv_ctr//u -c 500000
	rec both riscv_ctr/depth=64/ -c 500000
	perf-rvtrace inject -i user.data -o user.injected || exit 6
	perf script -i user.injected -F ip,brstack > brstack || exit 7
	# An ordinary user samples a task that sleeps, ten thousand times a second.
	interrupts() { awk "/timer/ { for (i = 2; \$i ~ /^[0-9]+\$/; i++) n += \$i } END { print n + 0 }" /proc/interrupts; }
	sysctl -q kernel.perf_event_paranoid=2
	before=$(interrupts)
	setpriv --reuid 1000 --regid 1000 --clear-groups \
		perf-rvtrace record -q -o /tmp/asleep.data -e riscv_ctr//u -c 100000 -- sleep 3 || exit 8
	echo $(($(interrupts) - before)) > asleep'
ok $? "1.0: user and kernel transfers are recorded; the module unloads"
check "1.0: user: equals what was executed" equals user 10
check "1.0: user and kernel: equals what was executed, without the handler's own" equals both 10
check "1.0: stock perf script prints the branch stacks" \
	grep -q '0x[0-9a-f]*/0x[0-9a-f]*/P/-/-/0/CALL' "$dir/share/brstack"
# 2 harts of 250 Hz make 1500 in 3 s; a trigger that went on without its task would make 60000.
check "1.0: while a task of an ordinary user sleeps its trigger does not load the harts" \
	awk '{ print; exit !($1 > 0 && $1 < 10000) }' "$dir/share/asleep"

# ---- options of the views that are for trace ----

# refuses VIEW OPTION: it says that this option is not for these recordings.
refuses()
{
	"$HOST/perf-rvtrace" "$@" -i "$dir/share/user.data" >"$dir/refused" 2>&1 && return 1
	grep -e "${2%%=*}: not for Control Transfer Records" "$dir/refused"
}

for options in "script --itrace=c" "script --insn-trace" "script --fields=ip" "script --symbols=main" \
	"report -g" "report --sort=dso" "report --symbols=main" "report --dsos=transfers" \
	"report --html=$dir/page.html" "inject --itrace=i"; do
	# shellcheck disable=SC2086 # they are words
	check "$options: refused" refuses $options
done

# ---- triggers, and a kernel that has branch stacks itself ----

# stacks_module KERNEL: a module with which the kernel's own PMU takes branch stacks
stacks_module()
{
	local work=$TOP/build/guest/module-$test_name-$1

	rm -rf "$work"
	mkdir -p "$work"
	cp "$TOP"/tests/guest/module-ctr/* "$work"
	"$LAB" kmake --kernel "$1" "$work" modules >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
	cp "$work/rvt_ctr_stacks.ko" "$guest_bin"
}

check "the selftest compiles for the guest" make -s -C "$TOP" selftests
cp "$TOP/build/selftests/ctr" "$guest_bin/selftest-ctr"
for kernel in stable testing; do
	check "$kernel: the module with branch stacks is built" stacks_module $kernel
	# shellcheck disable=SC2016 # for the guest
	ctr_guest triggers-$kernel $kernel '' '
		selftest-ctr > ctr.tap 2>&1
		rmmod riscv_ctr && insmod rvt_ctr_stacks.ko || exit 7
		! insmod riscv_ctr.ko 2> /dev/null || exit 8
		[ ! -e '$ctr_sysfs' ] || exit 9
		dmesg | grep -c "own PMU has branch stacks.*keeps the Control Transfer Records" > said
		rmmod rvt_ctr_stacks && insmod riscv_ctr.ko || exit 10'
	ok $? "$kernel: a kernel with branch stacks keeps the records to itself, another does not"
	check "$kernel: the selftest passes" tap_passed "$dir/share/ctr.tap"
	is "$kernel: the driver says once that the kernel has branch stacks" 1 "$(cat "$dir/share/said")"
done

layout draft
ctr_guest short stable overflow=100000 '
	rounds=12000 rec cycles riscv_ctr/trigger=1/ -c 100000
	rec ras riscv_ctr/ras=1/u -c 500000'
ok $? "draft 0.1.4: recorded at counter overflows, and call stacks"
check "draft 0.1.4: equals what was executed up to the overflow" equals cycles 10
check "draft 0.1.4: call stacks equal what was executed" equals ras 10

# ---- call stacks that survive a switch, and a hart's change ----

# stacks_survive: every sample of the leaf has its whole stack; where the driver was asked to forget
# it at a switch, many do not, so the program was switched.
stacks_survive()
{
	local all whole lost

	read -r all whole < <(whole_stacks kept)
	read -r lost < <(whole_stacks forgotten | awk '{ print $1 - $2 }')
	echo "$all samples, $whole with the whole stack; $lost without it when it is forgotten"
	[ "$all" -gt 100 ] && [ "$whole" -eq "$all" ] && [ "$lost" -gt 20 ]
}

for layout_kernel in 1.0:testing draft:stable; do
	layout "${layout_kernel%:*}"
	ctr_guest stacks "${layout_kernel#*:}" '' '
		spin() { perf-rvtrace record -q -o $1.data -e riscv_ctr/depth=64,ras=1$2/u -c 2000000 -- deep 30 6000000 > $1.out 2>&1 ||
			{ cat $1.out; exit 2; }; }
		spin kept
		spin forgotten ,forget_stack=1'
	ok $? "$layout: call stacks of two threads that are switched and moved are recorded"
	check "$layout: they are whole behind a switch" stacks_survive
	check "$layout: their entries are what the hart executed" equals kept 100
done

# The logs are large.
[ "$test_failed" -ne 0 ] || rm -rf "$TOP/build/guest/$test_name"-*/log
done_testing
