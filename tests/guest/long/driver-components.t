#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Components one by one: modes and calibration patterns of a PIB sink, ATB bridges, the modes of the
# timestamp unit, hardware that does not answer, and versions of the interface that the driver does
# not know.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

# repeated HEX: 16 times.
repeated()
{
	local i

	for ((i = 0; i < 16; i++)); do
		printf %s "$1"
	done
}

# patterns_came FILE: the patterns of Trace Control Interface 1.0, 6.3, in the order of the modes 4,
# 5, 8 ... 12.
patterns_came()
{
	local got expected

	expected=$(repeated aa5500ff; repeated aa5500ff; repeated aa5500ff; repeated 6666cc33; repeated 5a5af00f
		repeated aa5500ff; repeated aaaa55550000ffff)
	got=$(od -An -v -tx1 "$1" | tr -d ' \n')
	[[ $got == "$expected"* ]] || { echo "got ${got:0:200}"; return 1; }
}

capture=$TOP/build/guest/capture-components
for kernel in stable testing; do
	for kind in pib atb; do
		rm -rf "$capture"
		mkdir -p "$capture"
		hook_options="--topology $kind"
		selftests $kind-$kernel $kernel "topology=$kind,capture=$capture" components
		[ $kind != pib ] || check "$kernel: each mode's pattern came out of the PIB" \
			patterns_came "$capture/pib.0"
	done
done
hook_options=
for mode in external system core; do
	selftests ts-$mode testing "ts-modes=$mode" components
done

# broken NAME COMPONENT MODEL-ARGS: a component that never answers is named, and nothing waits for
# it for ever.
broken()
{
	guest "$1" testing "$3" 'insmod rvtrace.ko
		timeout 60 perf-rvtrace record -e rvtrace//u -o data -- true && exit 1
		rmmod rvtrace'
	ok $? "$1: nothing is recorded, the module unloads"
	check "$1: the log names the component" \
		grep -qE "rvtrace.*$2.*no answer within" "$dir/console"
}

# recovers TYPE: a component that misses one handshake is reset, and used again meanwhile.
recovers()
{
	guest recovers-$1 testing "stuck=$1,stuck-after=30,seed=3" 'insmod rvtrace.ko
		perf-rvtrace record -q -a -o first.data -- sh -c "for i in 1 2 3 4 5 6 7 8; do ls / > /dev/null; sleep 0.2; done"
		# One that is missed when a component comes out of reset is tried again with the next event.
		for i in 1 2 3; do
			perf-rvtrace record -q -o second.data -e rvtrace//u -- ls / || exit 1
			sleep 1
		done
		rmmod rvtrace'
	ok $? "recovers-$1: recorded, the module unloads"
	check "recovers-$1: the log says that it did not answer" \
		grep -qE "rvtrace .*$1.*: no answer within .* until it is reset" "$dir/console"
	check "recovers-$1: the log says that it was reset" \
		grep -qE "rvtrace .*$1.*: works again after a reset" "$dir/console"
	check "recovers-$1: what was recorded then is what was executed" \
		equals_truth "$dir/share/second.data" --lossy --min 10000
}

recovers encoder
recovers sink
broken stuck-encoder 'c000[02]000' 'stuck=encoder'
broken stuck-sink 'c000[13]000' 'stuck=sink'

# 2.0 is another major version; 0.1 is of before ratification.
for version in 0x02 0x10; do
	guest version-$version testing "version=$version" 'insmod rvtrace.ko || exit 1
		[ ! -e /sys/bus/event_source/devices/rvtrace ] || exit 2
		rmmod rvtrace'
	ok $? "version $version: the module loads, and there is no PMU"
	check "version $version: the log says why" \
		grep -q 'interface version.*component not used' "$dir/console"
done
# A higher minor version, and the experimental one, are used.
for version in 0x51 0xf1; do
	selftests version-$version testing "version=$version" components
	check "version $version: the log says so" \
		grep -qE 'interface version 1\.(5 is newer|15 is experimental)' "$dir/console"
done
rm -rf "$guest_bin" "$capture"
done_testing
