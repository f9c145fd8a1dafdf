#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver's selftests, as they run on a board, on both kernels.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/driver-lib.sh"

# Where the model's encoders have their trigger inputs, and a way for a program to get at it
selftest_before='export RVTRACE_TRIGGER_REGISTER=0xe00'
lab_options='--append iomem=relaxed'
for kernel in stable testing; do
	selftests $kernel $kernel user-io=on,stall=on,own-hart=on basic modes switches filters safety life copies
	# This hardware has every filter.
	! grep -h '# SKIP' "$dir/share/filters.tap"
	ok $? "$kernel: filters skips nothing"
done
# Hardware that is as bad as the specification lets it be: what it has and when it answers differ from
# seed to seed.
hostile='user-io=on,late-reads=40,wp-lag=256,holes=on,own-hart=on,late-data=on'
selftests hostile-1 testing "seed=1,$hostile" basic modes filters
hook_options=--deep-idle
selftests hostile-2 testing "seed=2,$hostile,idle-loss=on,warl-features=0xffff0155,sync-modes=3,filters=2,comparators=1" \
	basic modes filters
hook_options=
selftests hostile-3 testing "seed=3,$hostile,warl-features=0xffff02aa,modes=6,sync-modes=3,filters=0,comparators=0" filters
hook_options='--topology funnel'
# Each handshake takes its time, so that the harts get into each other's way.
selftests funnel testing topology=funnel,delay=20000 shared
selftests losses testing topology=funnel,fifo=512,drain=30 losses

hook_options=
# A hart that is down when the module is loaded: its encoder is found when the hart comes up.
guest down testing own-hart=on 'echo 0 > /sys/devices/system/cpu/cpu1/online
	insmod rvtrace.ko || exit 1
	[ -e /sys/bus/rvtrace/devices/encoder-0 ] && [ ! -e /sys/bus/rvtrace/devices/encoder-1 ] || exit 2
	echo 1 > /sys/devices/system/cpu/cpu1/online
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ -e /sys/bus/rvtrace/devices/encoder-1 ] && break
		sleep 0.5
	done
	cat /sys/bus/rvtrace/devices/encoder-1/state || exit 3
	echo 0 > /sys/devices/system/cpu/cpu1/online
	cat /sys/bus/rvtrace/devices/encoder-1/state || exit 4
	rmmod rvtrace'
ok $? "down: the encoder of a hart that was down is found, and can be asked while it is down"
check "down: no hart accesses the encoder of another" no_violations

for kernel in stable testing; do
	removals removal-$kernel $kernel '' encoder-1 ramsink-0
done
# Linux' CPU 0 is the second hart, and ramsink-0 the sink of CPU 1.
hook_options='--boot-hart 1'
removals removal-second-first testing '' ramsink-0
hook_options='--topology funnel'
removals removal-funnel testing topology=funnel encoder-1 funnel-0 ramsink-0

hook_options=--clock
# shellcheck disable=SC2016 # for the guest
guest clock testing ts-modes=system 'mount -t debugfs none /sys/kernel/debug
	count() { cat /sys/kernel/debug/clk/trace-clock/clk_enable_count; }
	# What is done when the last event is gone, a worker does.
	stopped() { for i in $(seq 50); do [ $(count) = 0 ] && return; sleep 0.1; done; return 1; }
	[ $(count) = 0 ] && insmod rvtrace.ko && [ $(count) = 0 ] || exit 1
	perf-rvtrace record -q -a -o /tmp/data -- sleep 1000 & recorder=$!
	until grep -q tracing /sys/bus/rvtrace/devices/encoder-*/state; do sleep 0.2; done
	[ $(count) = 4 ] || exit 2
	kill -INT $recorder; wait $recorder
	stopped || exit 3
	perf-rvtrace record -q -o clock.data -e rvtrace//u -- taskset 2 sh -c "ls / | sort" > ls || exit 4
	stopped && rmmod rvtrace && [ $(count) = 0 ] || exit 5'
ok $? "clock: it runs while somebody records"
check "clock: what is recorded equals the truth" equals_truth "$dir/share/clock.data" --lossy --min 10000
# Time stamps are of a clock of their own here.
check "clock: nothing is lost" nothing_lost "$dir/share/clock.data"

# Defect 16: while the module is unloaded, a setting of a PIB sink is written again and again; what
# that leaves to a worker waits until the module is gone, if nobody waits for it.
hook_options='--topology pib'
lab_options='--append workqueue.cpu_intensive_thresh_us=0'
check "defect 16: the module that lets work wait is built" helper_modules testing rvt_hog
# shellcheck disable=SC2016 # for the guest
guest defect-16 testing topology=pib 'insmod rvtrace.ko && insmod rvt_hog.ko || exit 1
	mode=/sys/bus/rvtrace/devices/pibsink-0/mode
	value=$(cat $mode)
	taskset 2 sh -c "while echo $value > $mode; do echo; done" > /tmp/writes 2> /dev/null &
	sleep 2
	rmmod rvtrace || exit 2
	wait
	[ $(wc -l < /tmp/writes) -gt 10 ] || exit 3
	sleep 4
	rmmod rvt_hog || exit 4'
ok $? "defect 16: the module is unloaded while a setting of a PIB sink is written"
check "defect 16: no worker runs what is gone" quiet "$dir/console"
rm -f "$guest_bin/rvt_hog.ko"
lab_options='--append iomem=relaxed'
hook_options=

# Somebody still records, into sinks in memory, when the machine is turned off.
# shellcheck disable=SC2016 # for the guest
guest shutdown testing '' 'insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -a -o /tmp/data -- sleep 1000 &
	for i in $(seq 20); do
		sleep 1
		grep -q tracing /sys/bus/rvtrace/devices/encoder-*/state && exit 0
	done
	exit 2'
ok $? "shutdown: a recording runs"
check "shutdown: all components are disabled before the machine is off" no_violations
check "shutdown: no complaint of the kernel" quiet "$dir/console"

# The same when the kernel panics: the sinks stop, so that what led there is what stays.
# shellcheck disable=SC2016 # for the guest
guest panic testing '' 'insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -a -o /tmp/data -- sleep 1000 &
	for i in $(seq 60); do
		sleep 1
		grep -q tracing /sys/bus/rvtrace/devices/encoder-*/state && echo c > /proc/sysrq-trigger
	done
	exit 2' 2>/dev/null
is "panic: the kernel panics while a recording runs" 123 $?
check "panic: all components are disabled" no_violations
rm -rf "$guest_bin"
done_testing
