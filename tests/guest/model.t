#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The model's registers from a program on the bare machine: what the specification says, and what it
# must report.
. "$(dirname "$0")/lib.sh"

work=$TOP/build/guest/$test_name
rm -rf "$work"
mkdir -p "$work"

# build NAME OPTION...
build()
{
	local name=$1
	shift
	"$LAB" cross gcc -march=rv64gc_zicsr_zifencei -mabi=lp64d -mcmodel=medany -fno-pic -ffreestanding -O1 \
		-Wall -Wextra -Werror -nostdlib -static -Wl,-Ttext=0x80000000,--build-id=none,-N,--no-warn-rwx-segments \
		"$@" -o "$work/$name.elf" "$TOP/tests/guest/bare/start.S" \
		"$TOP/tests/guest/bare/registers.c"
}

# run NAME PROGRAM MODEL-ARGS
run()
{
	rm -f "$work/ram"
	timeout 60 "$LAB" qemu -cpu rv64 -smp 1 -m 64 -display none -no-reboot -bios none \
		-object "memory-backend-file,id=ram,share=on,mem-path=$work/ram,size=64M" \
		-M virt,memory-backend=ram \
		-serial "file:$work/$1.tap" -kernel "$work/$2.elf" \
		-plugin "$TOP/build/model/rvtrace-model.so,ram=$work/ram,rambase=0x80000000,ramsize=0x4000000,violations=$work/$1.violations,${3:-seed=1}"
}

# passed NAME: every line of the program's TAP is ok, and there are as many as it planned.
passed()
{
	grep -v '^ok' "$work/$1.tap"
	! grep -q '^not ok' "$work/$1.tap" &&
		grep -qx "1..$(grep -c '^ok' "$work/$1.tap")" "$work/$1.tap"
}

clean()
{
	head "$work/$1.violations"
	[ -e "$work/$1.violations" ] && [ ! -s "$work/$1.violations" ]
}

check "build the programs" eval 'build good -DBAD=0 && build bad -DBAD=1'
for args in seed=1 seed=2,delay=20000 width=64 sram=4096; do
	name=${args%%[,=]*}-${args##*=}
	check "run with $args" run "$name" good "$args"
	check "$args: the registers are as specified" passed "$name"
	check "$args: nothing to report of a driver that behaves" clean "$name"
done

check "run the program that misbehaves" run bad bad
cat >"$work/expected" <<'END'
encoder 0: read register 0x00c while inactive
encoder 0: wrote register 0x00c while inactive
encoder 0: wrote 0x00000061 to Control while inactive: only Active may be set
encoder 0: wrote at 0x008 other than by an aligned 32-bit store
encoder 0: wrote 0xffff0000 to register 0x00c: reserved bits
encoder 0: wrote 0x41000061 to Control: reserved bits
encoder 0: trTeInstTracing set while trTeEnable is not
encoder 0: enabled while register 0x008 holds what it held after reset
encoder 0: enabled while register 0x040 holds what it held after reset
encoder 0: enabled while register 0x054 holds what it held after reset
encoder 0: enabled while register 0x058 holds what it held after reset
encoder 0: enabled before what it feeds
encoder 0: Control reconfigured while enabled: 0x01000063 to 0x01000263
encoder 0: wrote register 0x008 while enabled or not empty
encoder 0: wrote 0x01001a63 to Control: clears 0x00001000 by the way
encoder 0: deactivated while enabled
RAM sink 0: disabled before what feeds it is disabled and empty
RAM sink 0: enabled, but Start and Limit are no range of memory
RAM sink 0: still enabled when the machine was turned off
END
check "each misdeed is reported, and nothing else" \
	diff <(sort "$work/expected") <(sort "$work/bad.violations")
rm -f "$work/ram"


done_testing
