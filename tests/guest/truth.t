#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Is the model's ground truth what QEMU executes? Compared with QEMU's own log, every instruction
# and every trap.
. "$(dirname "$0")/lib.sh"

work=$TOP/build/guest/$test_name
model=$TOP/build/model/rvtrace-model.so
# Time is the number of instructions, so that interrupts come at the same place in every run.
machine=(-M virt -cpu rv64 -smp 1 -display none -serial null -no-reboot -seed 1
	-icount shift=5,sleep=off -rtc base=2026-01-01,clock=vm)
rm -rf "$work"
mkdir -p "$work"

# emulate ARGUMENT...: QEMU in the background; what it writes goes to somebody who has enough at
# some time.
emulate()
{
	rm -f "$work/truth.0" "$work/log"
	mkfifo "$work/truth.0" "$work/log"
	timeout 60 "$LAB" qemu "${machine[@]}" "$@" 2>"$work/qemu.log" &
	qemu=$!
}

enough()
{
	kill "$qemu" 2>/dev/null
	wait "$qemu" 2>/dev/null
	true
}

# log_of NAME LOW STOP LINES MACHINE-ARGUMENT...: what QEMU says it executed at LOW and above, until
# STOP or LINES.
log_of()
{
	local name=$1 low=$2 stop=$3 lines=$4
	shift 4
	emulate "$@" -accel tcg,one-insn-per-tb=on -d exec,nochain,int \
		-dfilter "0x$low..0xffffffffffffffff" \
		-D "$work/log"
	mawk -v LOW="$low" -v STOP="$stop" -f "$TOP/tests/guest/bare/exec-log.awk" "$work/log" |
		head -n "$lines" >"$work/$name.log"
	enough
}

# truth_of NAME LOW STOP LINES MACHINE-ARGUMENT...: the same by the model.
truth_of()
{
	local name=$1 low=$2 stop=$3 lines=$4
	shift 4
	emulate "$@" -plugin "$model,truth=$work,truth-all=on,clock=insns"
	timeout 60 "$HOST/rvt-truth" --pc --traps "$work/truth.0" |
		mawk -v LOW="$low" -v STOP="$stop" '
		$1 == "trap" { $0 = sprintf("trap %s %016x %s", $2, $4, $6) }
		$1 == STOP { exit }
		($1 == "trap" ? $4 : $1) >= LOW' | head -n "$lines" >"$work/$name.truth"
	enough
}

# same NAME MIN: are log and truth equal, and at least MIN lines?
same()
{
	local n
	n=$(wc -l <"$work/$1.log")
	echo "$1: $n lines, $(grep -c trap "$work/$1.log") traps"
	[ "$n" -ge "$2" ] && cmp "$work/$1.log" "$work/$1.truth" && return 0
	diff "$work/$1.log" "$work/$1.truth" | head -n 20
	return 1
}

# link NAME: a program for the bare machine.
link()
{
	"$LAB" cross gcc -march=rv64gc -mabi=lp64d -mcmodel=medany -fno-pic -nostdlib -static \
		-Wl,-Ttext=0x80000000,--no-relax,--build-id=none,-N,--no-warn-rwx-segments \
		-o "$work/$1.elf" "$TOP/tests/guest/bare/$1.S"
}

check "link the bare program" link traps
over=$("$LAB" cross nm "$work/traps.elf" | sed -n 's/ T over$//p')
bare=(-m 64 -bios none -kernel "$work/traps.elf")
log_of traps 0000000000000000 "$over" 1000000 "${bare[@]}"
truth_of traps 0000000000000000 "$over" 1000000 "${bare[@]}"
check "traps, interrupts, device access: the truth is what QEMU executed" same traps 20000

# Firmware and kernel, until so many instructions of the kernel at its virtual addresses.
host=$("$LAB" path host)
linux=(-m 256 -append "earlycon=sbi" -bios "$host/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin"
	-kernel "$(find "$("$LAB" path kernel-testing)" '(' -name 'vmlinuz' -o -name 'vmlinu[xz]-*' ')' -type f | head -n 1)")
log_of linux ffffffff00000000 none 2000000 "${linux[@]}"
truth_of linux ffffffff00000000 none 2000000 "${linux[@]}"
check "Linux: the truth is what QEMU executed" same linux 2000000

done_testing
