#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# `perf rvtrace doctor` on trees like those that the driver makes in /sys: each thing that is not right
# is told, with what to try, and nothing else.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# file NAME TEXT
file()
{
	mkdir -p "$dir/sys/$(dirname "$1")"
	printf '%s\n' "$2" >"$dir/sys/$1"
}

# node NAME [COMPATIBLE]: a component in the devicetree
node()
{
	mkdir -p "$dir/sys/firmware/devicetree/base/soc/$1"
	printf 'acme,trace\0%s\0' "${2:-riscv,trace-component}" \
		>"$dir/sys/firmware/devicetree/base/soc/$1/compatible"
}

# status NAME EXPECTED
status()
{
	"$rv" doctor --sysfs "$dir/sys" >"$dir/out" 2>&1
	is "$1" "$2" $?
}

# shows NAME LINE: doctor prints the line, white space aside
shows()
{
	tr -s ' ' <"$dir/out" | grep -qxF -- "$2"
	ok_or_show $? "$1" "$dir/out"
}

# verdicts NAME EXPECTED: of the words good, note, bad so many each
verdicts()
{
	is "$1" "$2" "$(for word in good note bad; do grep -c "^$word " "$dir/out"; done | paste -sd' ')"
}

mkdir "$dir/sys"
status "a machine without a driver" 1
shows "it says so" "bad driver there is no event rvtrace"
shows "and what to try" " 'perf rvtrace list' says what is missing"
verdicts "nothing more" "0 0 1"

pmu=bus/event_source/devices/rvtrace
devices=bus/rvtrace/devices
file $pmu/type 12
file $pmu/cpumask 0-1
file devices/system/cpu/online 0-1
for cpu in 0 1; do
	node encoder$cpu
	node sink$cpu
	encoder=$devices/encoder-$cpu
	file $encoder/type encoder
	file $encoder/state idle
	file $encoder/cpu $cpu
	file $encoder/protocol ntrace
	file $encoder/protocol_version 1.0
	file $encoder/timestamp_mode external
	file $encoder/timestamp_frequency 10000000
	file $encoder/features "context timestamp"
	file $devices/ramsink-$cpu/type ramsink
	file $devices/ramsink-$cpu/state inactive
	file $devices/ramsink-$cpu/memory smem
	file $devices/ramsink-$cpu/access_bytes 4
	file $devices/ramsink-$cpu/stop_on_wrap 1
done
status "a machine that is in order" 0
verdicts "nothing is told of it" "6 0 0"
shows "the components of the devicetree" "good devicetree 4 trace components, all in use"
shows "an encoder" "good encoder-1 ntrace 1.0 of cpu 1"
shows "a sink" "good ramsink-0 writes to system memory, 4 bytes at a time"
shows "the verdict" "nothing is wrong that could be seen"

file $devices/ramsink-0/memory sram
file $devices/ramsink-0/stop_on_wrap 0
file $devices/encoder-0/timestamp_mode none
file $devices/encoder-1/timestamp_frequency 0
file $devices/encoder-1/features timestamp
file devices/system/cpu/online 0-2
file $devices/funnel-0/type funnel
file $devices/pibsink-0/type pibsink
status "what it can do without" 0
verdicts "each is told" "7 6 0"
shows "a sink's own memory" "good ramsink-0 writes to a memory of its own, 4 bytes at a time"
shows "a sink that goes on" "note ramsink-0 it cannot stop when it is full"
shows "no time stamps" "note encoder-0 no time stamps"
shows "a rate that nobody knows" "note encoder-1 time stamps (external) at a rate that is not known"
shows "no contexts" "note encoder-1 no thread ids in the trace"
shows "a cpu without an encoder" "note cpus cpu 2 has no encoder"
shows "a way out of the chip" "note pibsink-0 trace leaves the chip here"

rm -r "${dir:?}/sys/$devices/pibsink-0" "${dir:?}/sys/$devices/funnel-0" "${dir:?}/sys/$devices/encoder-0"
file $devices/ramsink-1/state broken
status "what must be mended" 1
shows "a component that is broken" "bad ramsink-1 it does not answer"
shows "one that is missing" "bad devicetree 1 of 4 trace components are not in use"
for kind in sifive,trace-encoder-v0 sifive,trace-funnel-v0 riscv,trace-encoder riscv,trace-funnel \
	riscv,trace-atbbridge; do
	node other $kind
	status "one more" 1
	shows "$kind is one, too" "bad devicetree 2 of 5 trace components are not in use"
done
node other arm,coresight-dynamic-funnel
status "another trace system's" 1
shows "another trace system's is none" "bad devicetree 1 of 4 trace components are not in use"
rm -r "$dir/sys/firmware/devicetree/base/soc/other"
shows "how many checks failed" "2 of 9 checks are bad: begin with the first of them"

"$rv" doctor --loop x >"$dir/out" 2>&1
is "--loop wants a cpu" 1 $?
"$rv" doctor surplus >"$dir/out" 2>&1
is "a word too many" 1 $?
done_testing
