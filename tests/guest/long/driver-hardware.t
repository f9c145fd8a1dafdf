#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver's selftests on other hardware than the usual: funnels, memories, widths, slow
# handshakes, sinks that are pins.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

# hardware NAME TOPOLOGY MODEL-ARGS PROGRAM...
hardware()
{
	hook_options="--topology $2"
	GUEST_TIMEOUT=400 selftests "$1" testing "topology=$2${3:+,$3}" "${@:4}"
	hook_options=
}

hardware funnel funnel '' basic switches life safety shared copies
hardware tree tree '' basic shared
hardware both both '' basic life shared
hardware sram direct sram=65536 basic modes switches copies
hardware slow direct delay=50000 basic modes switches
hardware wide direct width=64 basic modes switches copies
hardware btm direct modes=3 basic

# Components without power, or without clock, until somebody records: what they held is lost without
# power, and an access is an error. All of it is written again, when the machine has slept, too.
check "power: the module of the power domain is built" helper_modules testing rvt_power
# switched NAME HOOK-OPTION
switched()
{
	hook_options=$2
	# shellcheck disable=SC2016 # for the guest
	guest "$1" testing "$1=on,own-hart=on" 'insmod rvt_power.ko && insmod rvtrace.ko || exit 1
		is() { for i in $(seq 50); do [ $(cat /sys/module/rvt_power/parameters/on) = $1 ] && return; sleep 0.1; done; return 1; }
		is N || exit 2
		# Nobody reads registers for that.
		[ $(cat /sys/bus/rvtrace/devices/*/state | sort -u) = inactive ] || exit 3
		perf-rvtrace record -q -a -o /tmp/data -- sleep 1000 & recorder=$!
		until grep -q tracing /sys/bus/rvtrace/devices/encoder-*/state; do sleep 0.2; done
		is Y || exit 4
		kill -INT $recorder; wait $recorder
		is N || exit 5
		before=$(cat /sys/module/rvt_power/parameters/times)
		perf-rvtrace record -q -o power.data -e rvtrace//u -- ls / > ls || exit 6
		is N && [ $(cat /sys/module/rvt_power/parameters/times) -gt $before ] || exit 7
		rmmod rvtrace rvt_power'
	ok $? "$1: components have it while somebody records"
	check "$1: what is recorded when it is back equals the truth" \
		equals_truth "$dir/share/power.data" --lossy --min 10000
	check "$1: no complaint of the kernel" quiet "$dir/console"
	check "$1: nobody accessed a component without it" no_violations
}
switched clock-gate --gated-clock
switched power --power
selftest_before='insmod rvt_power.ko || exit 5'
GUEST_TIMEOUT=400 selftests power-direct testing power=on,own-hart=on basic life suspend
hook_options=--gated-clock
GUEST_TIMEOUT=400 selftests clock-gate testing clock-gate=on,own-hart=on basic life suspend
hook_options='--power --clock --topology funnel'
GUEST_TIMEOUT=400 selftests power-funnel testing power=on,topology=funnel suspend shared
hook_options=
selftest_before=
rm -f "$guest_bin/rvt_power.ko"

# Sinks that reach a carve-out only, at whose beginning Start is fixed
hook_options='--carveout 0x100000'
GUEST_TIMEOUT=400 selftests carveout testing carveout=0x100000 basic modes
for kernel in stable testing; do
	guest carveout-$kernel $kernel carveout=0x100000 'insmod rvtrace.ko || exit 1
		perf-rvtrace record -q -o carveout.data -e rvtrace//u -- ls / > ls || exit 2
		rmmod rvtrace'
	ok $? "carveout: recorded on $kernel"
	check "carveout: $kernel: equals the truth" equals_truth "$dir/share/carveout.data" --min 10000
done
hook_options=
guest no-carveout testing carveout=0x100000 'insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -o carveout.data -e rvtrace//u -- ls / > ls 2>&1
	rmmod rvtrace'
ok $? "carveout: the module unloads where firmware names no memory"
check "carveout: the log says that the sink does not take another" \
	grep -q 'does not take the address of its buffer' "$dir/console"
check "carveout: nothing was written elsewhere" no_violations

# The driver without late records
check "no late records: the module is built" make -s -C "$TOP" build/driver/testing-nolate/rvtrace.ko
guest_module=$TOP/build/driver/testing-nolate/rvtrace.ko
is "no late records: nothing of them is in it" "" "$(nm "$guest_module" | grep rvtrace_late)"
hardware nolate direct '' basic modes life safety copies
for what in "-e rvtrace//u" -a; do
	guest late testing '' "insmod rvtrace.ko || exit 1
		perf-rvtrace record $what -o perf.data -- sh -c 'seq 1 3000 | sort -n | gzip -c > /dev/null' || exit 2
		rmmod rvtrace"
	ok $? "no late records: record $what"
	check "no late records: $what: equals the truth" equals_truth "$dir/share/perf.data"
done
guest_module=

# Where trace leaves the chip: what came out there is all that shows. Names are those of the model.
for kind in pib atb; do
	hook_options="--topology $kind"
	mkdir -p "$TOP/build/guest/capture"
	rm -f "$TOP"/build/guest/capture/*
	guest $kind testing "topology=$kind,capture=$TOP/build/guest/capture" \
		"insmod rvtrace.ko || exit 1
		perf stat -e rvtrace//u -- gzip -c /bin/ls > /dev/null || exit 1
		setpriv --reuid 1000 --regid 1000 --clear-groups perf stat -e rvtrace//u -- true && exit 2
		rmmod rvtrace"
	ok $? "$kind: root's event runs without a buffer, others' are refused"
	check "$kind: trace came out" test -n "$(find "$TOP/build/guest/capture" -size +10k)"
	check "$kind: no rule of the control interface was broken" no_violations
done
rm -rf "$guest_bin"
done_testing
