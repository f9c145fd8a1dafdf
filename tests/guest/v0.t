#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Encoders and funnels with registers from before ratification, and the messages that go with them:
# branches are counted, time stamps are by XOR. They have no filters, so what is traced is all that
# runs, firmware included. What is decoded is what was executed.
. "$(dirname "$0")/lib.sh"

registers='registers=v0,dialect=sifive,timestamp=xor,bcnt-bits=0,stack-depth=1023,icnt-bits=12,hist-bits=20'
registers+=,width=8,own-hart=on,modes=6

# The firmware is where the machine has loaded it.
printf '.globl _start\n_start:\n.incbin "%s"\n' \
	"$("$LAB" path host)/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin" >"$TOP/build/guest/v0-firmware.S"
check "an image of the firmware" "$LAB" cross-cc -nostdlib -static -Wl,-Ttext=0x80000000 \
	-o "$TOP/build/guest/v0-firmware" "$TOP/build/guest/v0-firmware.S"

# all_equals_truth FILE [rvt-truth-diff options]: no message tells the privilege mode, which is machine
# mode where the firmware is
all_equals_truth()
{
	set -o pipefail
	raw_pc "$1" --firmware "$TOP/build/guest/v0-firmware" |
		awk '!/^#/ && $4 ~ /^0*800[0-7]....$/ { $3 = "M" } { print }' |
		"$HOST/rvt-truth-diff" "${@:2}" "$dir/truth"
}

# recorded NAME KERNEL TOPOLOGY MODEL-ARGS
recorded()
{
	hook_options="--topology $3 --registers v0"
	guest "$1" "$2" "topology=$3,$registers${4:+,$4}" '
		insmod rvtrace.ko || exit 1
		ls /sys/bus/rvtrace/devices > devices
		cat /sys/bus/rvtrace/devices/*-0/{version,params,memory,access_bytes} > texts 2> /dev/null
		# Nobody may have all privilege modes in the trace without asking for them.
		perf-rvtrace record -q -o none.data -e rvtrace//u -- true 2> refused && exit 2
		perf-rvtrace record -q -m ,32M -o ls.data -e rvtrace/machine/ukh -- ls -lR /sys/bus/platform > /dev/null || exit 3
		rmmod rvtrace && insmod rvtrace.ko && rmmod rvtrace'
	ok $? "$1: recorded"
	check "$1: what is decoded is what was executed" all_equals_truth "$dir/share/ls.data" --min 100000
	check "$1: no rule of the registers was broken" no_violations
	check "$1: no complaint of the kernel" test -z "$(grep -E 'BUG|WARN|no answer' "$dir/console")"
}

recorded own stable direct ''
recorded shared testing funnel ts-modes=system+shared
done_testing
