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
