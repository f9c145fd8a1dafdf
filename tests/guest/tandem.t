#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Tandem verification of what QEMU executes: firmware, kernel, a user program, traps on the bare
# machine.
. "$(dirname "$0")/lib.sh"

work=$TOP/build/guest/$test_name
producer=$TOP/build/model/rvtrace-tandem.so
model=$TOP/build/model/rvtrace-model.so
tandem=("$HOST/perf-rvtrace" tandem)
# The instructions and CSRs that the golden model knows (Documentation/tandem.rst).
cpu=rv64i,m=on,a=on,f=on,d=on,c=on,zicsr=on,zifencei=on,zicntr=on,zihpm=on,s=on,u=on,pmp=on,mmu=on,sv39=on,sv48=on
machine=(-M virt -cpu "$cpu" -smp 1 -m 256 -nodefaults -display none -no-reboot -seed 1
	-icount shift=5,sleep=off -rtc base=2026-01-01,clock=vm)
rm -rf "$work"
mkdir -p "$work/root/dev"

# trace NAME PRODUCER-ARGUMENTS MACHINE-ARGUMENT...: trace a run of the machine.
trace()
{
	local name=$1 arguments=$2
	shift 2
	timeout 300 "$LAB" qemu "${machine[@]}" "$@" \
		-plugin "$producer,out=$work/$name.trace,quit=on,$arguments"
	[ -s "$work/$name.trace" ]
}

# verified NAME MIN [verify options]: no mismatch in at least MIN steps.
verified()
{
	local name=$1 min=$2
	shift 2
	"${tandem[@]}" verify "$@" "$work/$name.trace" >"$work/$name.result" || {
		cat "$work/$name.result"
		return 1
	}
	cat "$work/$name.result"
	awk -v min="$min" '/groups compared/ && $1 >= min { ok = 1 } END { exit !ok }' \
		"$work/$name.result"
}

build_initrd()
{
	"$LAB" cross-cc -O2 -Wall -Wextra -Werror -static -o "$work/root/init" \
		"$TOP/tests/guest/workloads/tandem.c" -lm &&
		(cd "$work/root" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/initrd"
}

check "build the program and its initramfs" build_initrd
# Without the kernel's self-tests, which would go on beside the program.
linux=(-serial "file:$work/console"
	-append "console=ttyS0 panic=-1 cryptomgr.notests initcall_blacklist=load_system_certificate_list,jent_mod_init"
	-bios "$("$LAB" path host)/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin"
	-kernel "$(find "$("$LAB" path kernel-testing)" '(' -name 'vmlinuz' -o -name 'vmlinu[xz]-*' ')' -type f | head -n 1)"
	-initrd "$work/initrd")

# From reset: about a million instructions of firmware, then the kernel.
check "trace a boot" trace boot count=3000000 "${linux[@]}"
check "boot: no mismatch in 2900000 compared instructions" verified boot 2900000

check "trace a user program" trace user start=user,skip=3000000,count=3000000 "${linux[@]}"
check "user program, with the kernel under it: no mismatch" verified user 2900000
traps_in() { grep -q "[1-9][0-9]* of them traps, [1-9][0-9]* interrupts" "$work/$1.result"; }
check "user program: there were traps and interrupts in it" traps_in user

# The bridge. Both plugins watch the same run, each with its own code.
truth()
{
	"${tandem[@]}" to-truth -o "$work/$1.truth" "$work/$1.trace"
}
user_insns()
{
	truth user && [ "$("$HOST/rvt-truth" --pc --prv 0 "$work/user.truth" | wc -l)" -ge 1000000 ]
}
check "to-truth: a million instructions of the user program are in it" user_insns
both()
{
	local lines

	rm -f "$work/truth.0"
	trace both count=1200000 "${linux[@]}" -plugin "$model,truth=$work,truth-all=on" &&
		truth both &&
		"$HOST/rvt-truth" --pc --traps "$work/both.truth" >"$work/both.pcs" || return 1
	lines=$(wc -l <"$work/both.pcs")
	[ "$lines" -ge 1200000 ] || return 1
	# the model goes on until the emulator has ended
	"$HOST/rvt-truth" --pc --traps "$work/truth.0" | head -n "$lines" | cmp - "$work/both.pcs"
}
check "to-truth: the same instructions and traps as in the model's truth" both

# traps.S: every kind of trap, delegated and not, on the bare machine.
bare()
{
	"$LAB" cross gcc -march=rv64gc -mabi=lp64d -mcmodel=medany -fno-pic -nostdlib -static \
		-Wl,-Ttext=0x80000000,--no-relax,--build-id=none,-N,--no-warn-rwx-segments \
		-o "$work/traps.elf" "$TOP/tests/guest/bare/traps.S" &&
		trace traps count=20000 -bios none -kernel "$work/traps.elf" -serial null
}
check "trace traps on the bare machine" bare
check "traps on the bare machine: no mismatch" verified traps 19000

# An ELF file, then what happened: memory comes from the file, so that nothing is taken from the
# trace.
loaded()
{
	"${tandem[@]}" from-elf -o "$work/elf.trace" "$work/traps.elf" &&
		cat "$work/elf.trace" "$work/traps.trace" >"$work/loaded.trace"
}
check "from-elf: the program as a trace" loaded
check "from-elf: the program runs from what was loaded" verified loaded 19000

# A single wrong bit, in the last register of the trace, must be found.
wrong_bit()
{
	local offset

	cp "$work/traps.trace" "$work/wrong.trace"
	offset=$("${tandem[@]}" show "$work/traps.trace" | awk '/ register a0 = / { at = $1 } END { print at }')
	offset=$((0x$offset + 4))
	printf '\x5a' | dd of="$work/wrong.trace" bs=1 seek=$offset conv=notrunc status=none
	! "${tandem[@]}" verify "$work/wrong.trace" >"$work/wrong.result" &&
		grep -q "^  a0: expected 0x[0-9a-f]*, seen 0x[0-9a-f]*5a[0-9a-f]\{2\}$" \
		"$work/wrong.result"
}
check "a wrong register value is found" wrong_bit

# show --summary: 50 MB/s and more, counted in processor time, for others may use the machine.
speed()
{
	local TIMEFORMAT=%U bytes seconds
	bytes=$(stat -c %s "$work/boot.trace")
	seconds=$( { time "${tandem[@]}" show --summary "$work/boot.trace" >/dev/null; } 2>&1)
	echo "$bytes bytes in $seconds seconds"
	awk -v b="$bytes" -v s="$seconds" 'BEGIN { exit !(b / (s + 0.001) >= 50e6) }'
}
check "show --summary reads 50 MB/s" speed

done_testing
