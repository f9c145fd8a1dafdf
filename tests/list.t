#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# `perf rvtrace list` on trees like those that the drivers make in /sys.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# file NAME TEXT
file()
{
	mkdir -p "$dir/sys/$(dirname "$1")"
	printf '%s\n' "$2" >"$dir/sys/$1"
}

# shows NAME LINE: list prints the line, white space aside
shows()
{
	tr -s ' ' <"$dir/list" | grep -qxF -- "$2"
	ok_or_show $? "$1" "$dir/list"
}

# status NAME EXPECTED
status()
{
	build/host/perf-rvtrace list --sysfs "$dir/sys" >"$dir/list" 2>&1
	is "$1" "$2" $?
}

mkdir "$dir/sys"
status "nothing there" 1
shows "it says so" "perf-rvtrace list: $dir/sys has neither the event rvtrace nor riscv_ctr"
mkdir -p "$dir/sys/firmware/devicetree/base/cpus/cpu@0"
printf 'sifive,hifive-premier-p550\0eswin,eic7700\0' >"$dir/sys/firmware/devicetree/base/compatible"
status "a chip without a driver" 1
shows "it names the chip" "perf-rvtrace list: its chip is known, though ('p550'): a dump that another tool takes of its trace buffer is decoded by"
shows "and what decodes its dump" " perf rvtrace decode --chip p550 --image ELF DUMP (see Documentation/chips.rst)"
printf 'eswin,eic7700x\0' >"$dir/sys/firmware/devicetree/base/compatible"
status "another chip" 1
is "it is not known" 0 "$(grep -c 'chip is known' "$dir/list")"

pmu=bus/event_source/devices/rvtrace
file $pmu/type 12
file $pmu/cpumask 0-1
file $pmu/format/timestamp config:16
file $pmu/format/context config:15
file $pmu/format/sink config2:0-31
file $pmu/format/ecause config3:0-63
file $pmu/format/implicit_return config:3
file $pmu/caps/features 'context implicit_return_mode'
file $pmu/caps/modes '3 6'
file bus/rvtrace/devices/encoder-1/cpu 1
file bus/rvtrace/devices/encoder-1/params $'protocol = ntrace\nmode = htm'
status "an encoder" 0
# Colour: for terminals, of which script(1) is one.
bold=$'\033[1mPMU rvtrace\033[m'
colour="build/host/perf-rvtrace list --sysfs $dir/sys"
terminal()
{
	env "$1" TERM=xterm script -qec "$colour $2" /dev/null </dev/null | tr -d '\r'
}
is "a file has no colour" 0 "$($colour | grep -c $'\033')"
is "--color always" 1 "$($colour --color always | grep -cF "$bold")"
if command -v script >/dev/null; then
	is "a terminal has" 1 "$(terminal A=b "" | grep -cF "$bold")"
	is "not with NO_COLOR" 0 "$(terminal NO_COLOR=1 "" | grep -c $'\033')"
	is "nor with --color never" 0 "$(terminal A=b "--color never" | grep -c $'\033')"
fi
shows "cpus" " cpus 0-1"
shows "what the hardware can do" " modes 3 6"
shows "a term of one bit that the hardware has" " context 0-1"
shows "one that it has not" " timestamp 0-1 this hardware: only 0"
shows "one whose name begins like another's" " implicit_return 0-1 this hardware: only 0"
shows "a term of 32 bits" " sink 0-4294967295"
shows "a term of 64 bits" " ecause 0-18446744073709551615"
shows "the component" "encoder-1"
shows "lines of a file below each other" " mode = htm"

# Control Transfer Records that the kernel may not use, or for which there is no driver.
cpu=$dir/sys/firmware/devicetree/base/cpus/cpu@0
# told: how often list names the state enables
told()
{
	build/host/perf-rvtrace list --sysfs "$dir/sys" 2>&1 |
		grep -c 'bits 54 (CTR; 55 in draft 0.1.4) and 60 (CSRIND) of mstateen0'
}
is "harts without Ssctr: no word of state enables" 0 "$(told)"
printf 'zicsr\0smaia\0sscofpmf\0xssctr\0' >"$cpu/riscv,isa-extensions"
is "nor with an extension whose name ends so" 0 "$(told)"
printf 'zicsr\0sscsrind\0ssctr\0' >"$cpu/riscv,isa-extensions"
is "Ssctr among the extensions: what firmware has to set" 1 "$(told)"
rm "$cpu/riscv,isa-extensions"
printf 'rv64imafdc_zicsr_ssctr0p1p4_sscofpmf\0' >"$cpu/riscv,isa"
is "Ssctr in the ISA string" 1 "$(told)"
printf 'rv64imafdc\0' >"$cpu/riscv,isa"
printf '0.1.4\0' >"$cpu/rvtrace,ctr-version"
is "the draft by its property" 1 "$(told)"

rm -r "$dir/sys/bus/event_source/devices/rvtrace"
file bus/event_source/devices/riscv_ctr/type 13
file bus/event_source/devices/riscv_ctr/format/ras config:0
status "Control Transfer Records without an encoder" 0
shows "their event" "PMU riscv_ctr"
is "with the event: no word of state enables" 0 "$(told)"
done_testing
