#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The subcommands of tandem: exit status, what is no input, the bytes of either text.
. "$(dirname "$0")/tap.sh"

tandem=("$TOP/build/host/perf-rvtrace" tandem)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# status EXPECTED MESSAGE COMMAND...: the exit status, and a part of what is said.
status()
{
	local expected=$1 message=$2

	shift 2
	"$@" >"$work/output" 2>&1
	local got=$?
	cat "$work/output"
	[ $got -eq "$expected" ] && grep -q -e "$message" "$work/output"
}

# bytes HEX...: a trace of these bytes in $work/trace.
bytes() { printf '%s' "$*" | tr -d ' ' | sed 's/../\\x&/g' | xargs -0 printf '%b' >"$work/trace"; }

printf '.globl _start\n_start: li t0,5\n j _start\n' >"$work/a.s"
riscv64-linux-gnu-as -march=rv64gc -o "$work/a.o" "$work/a.s"
riscv64-linux-gnu-ld -Ttext=0x80000000 -o "$work/a.elf" "$work/a.o"

check "from-elf: an object file has nothing to load" \
	status 1 'no segment to load' "${tandem[@]}" from-elf -o "$work/none" "$work/a.o"
check "from-elf: and leaves no trace behind" test ! -e "$work/none"
check "from-elf: a program" "${tandem[@]}" from-elf -o "$work/elf" "$work/a.elf"
check "from-elf: with the bytes of appendix C" \
	"${tandem[@]}" from-elf --text appendix-c -o "$work/elf-c" "$work/a.elf"
# They differ in the identifier of the pc only: 0a, 10.
is "from-elf: which differ in the identifier of the pc" "12 20 " \
	"$(cmp -l "$work/elf" "$work/elf-c" | awk '{ printf "%s %s ", $2, $3 }')"
check "from-elf: a text that there is not" \
	status 2 'neither chapter-2 nor appendix-c' "${tandem[@]}" from-elf --text 3 "$work/a.elf"

"${tandem[@]}" verify /dev/null 2>&1 | grep -q 'no golden model' && {
	echo "ok $((test_count + 1)) - verify # SKIP this build has no golden model (libunicorn)"
	test_count=$((test_count + 1))
	done_testing
	exit
}

check "verify: an empty file" status 2 'nothing could be verified' "${tandem[@]}" verify /dev/null
check "verify: memory loads only" \
	status 2 'nothing could be verified' "${tandem[@]}" verify "$work/elf"
bytes 01 03 10 95 42 04 05 10 05 00 00 00 00 00 00 00 02
check "verify: an instruction, but no pc" \
	status 2 'nothing could be verified' "${tandem[@]}" verify "$work/trace"

# c.li t0,5 at a known pc, right and wrong, and behind a byte that is no opcode.
known='01 0b 07 0a 00 00 00 80 00 00 00 00 07 01 03 04 05 10 00 00 00 00 00 00 00 00 02'
bytes "$known" 01 03 10 95 42 04 05 10 05 00 00 00 00 00 00 00 02
check "verify: a right result" status 0 ' 1  groups compared' "${tandem[@]}" verify "$work/trace"
bytes "$known" 01 03 10 95 42 04 05 10 06 00 00 00 00 00 00 00 02
check "verify: a wrong result" \
	status 1 't0: expected 0x5, seen 0x6' "${tandem[@]}" verify "$work/trace"
bytes "$known" 01 03 10 95 42 04 05 10 05 00 00 00 00 00 00 00 02 01 ee 02 \
	01 03 10 95 42 02 01 07 0a 00 00 00 80 00 00 00 00 11 6f 00 00 00 02 01 03 10 95 42 02
check "verify: damage is no mismatch" status 1 ' 0  mismatches' "${tandem[@]}" verify "$work/trace"
check "verify: a choice that there is not" \
	status 2 'is none of' "${tandem[@]}" verify --choices warl,what "$work/trace"

done_testing
