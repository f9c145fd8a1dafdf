#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# latency: what a slow call called, also where two functions call each other deeper than a tree of
# calls goes (500).
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/program.S" <<'END'
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm
	# calls \other until a0 is 0
	.macro turn name other
	function \name
	beqz a0, 1f
	addi sp, sp, -16
	sd ra, 0(sp)
	addi a0, a0, -1
	call \other
	ld ra, 0(sp)
	addi sp, sp, 16
1:	ret
	.size \name, . - \name
	.endm
	function _start
	call outer
	li a7, 93
	ecall
	.size _start, . - _start
	function outer
	mv s1, ra
	li a0, 1200
	call even
	call late
	mv ra, s1
	ret
	.size outer, . - outer
	function late
	nop
	ret
	.size late, . - late
	turn even, odd
	turn odd, even
END
riscv64-linux-gnu-as -march=rv64gc -mno-relax -o "$dir/program.o" "$dir/program.S" &&
	riscv64-linux-gnu-ld --no-relax -e _start -o "$dir/program" "$dir/program.o"
build/host/rvt-execute "$dir/perf.data" "$dir/program" || skip_all "built without Unicorn"
"$rv" latency --json --slowest 1 outer -i "$dir/perf.data" >"$dir/json" 2>"$dir/err"
is "latency of a function" 0 $?
# sums SYM: calls, its own instructions, and the least depth, of all nodes of the tree
sums()
{
	awk -v sym="$1" -F '[:,]' '/"type":"median"/ { exit } /"callee"/ {
		for (i = 1; i < NF; i++)
			field[$i] = $(i + 1)
		if (field["\"sym\""] != "\"" sym "\"")
			next
		calls += field["\"calls\""]
		insns += field["\"own_insns\""]
		depth = n++ && depth < field["\"depth\""] ? depth : field["\"depth\""]
	}
	END { print calls, insns, depth }' "$dir/json"
}
is "the function itself" "1 8 0" "$(sums outer)"
# nine instructions each, but for the last one, which only compares and returns
is "one of two that call each other" "601 5402 1" "$(sums even)"
is "the other one" "600 5400 2" "$(sums odd)"
is "what is called behind them" "1 2 1" "$(sums late)"
done_testing
