#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Disassembly: where direct jumps and branches go is what objdump says, with the symbol.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

build/host/rvt-recording "$dir/perf.data" "$dir/program" 0x1000 prog 30000
printf '.globl begin\nbegin: .incbin "%s"\n.size begin, . - begin\n.type begin, @function\n' \
	"$dir/perf.data.program" | riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" -
riscv64-linux-gnu-ld -Ttext=0x80001000 -e begin -o "$dir/program" "$dir/program.o"
"$rv" script --insn-trace=disasm -i "$dir/perf.data" -F ip,disasm >"$dir/out" 2>"$dir/err" || {
	grep -q "without a disassembler: install libcapstone-dev 5 .* or llvm-dev" "$dir/err"
	ok_or_show $? "a build without a disassembler says what to install" "$dir/err"
	done_testing
}
is "script --insn-trace=disasm" 0 $?

# "ADDRESS TARGET SYMBOL" of each direct jump and branch that ran
awk '{ address = $1 } match($0, /0x[0-9a-f]+ <[^>]*>$/) {
	print address, substr($0, RSTART + 2, RLENGTH - 2) }' "$dir/out" | sort -u >"$dir/ours"
[ "$(wc -l <"$dir/ours")" -gt 50 ]
ok $? "there are many jumps and branches"
# The program's only symbol is at its beginning. objdump begins at each instruction that ran, for
# behind data it may be out of step.
head -n 80 "$dir/ours" >"$dir/some"
while read -r address _; do
	riscv64-linux-gnu-objdump -D -b binary -m riscv:rv64 --adjust-vma=0x80001000 \
		--start-address="0x$address" --stop-address=$((0x$address + 4)) "$dir/perf.data.program" |
		awk -v at="$address" '$1 == at ":" && match($0, /0x[0-9a-f]+$/) {
			print at, substr($0, RSTART + 2) }'
done <"$dir/some" | while read -r address target; do
	printf '%s %s <begin+0x%x>\n' "$address" "$target" $((0x$target - 0x80001000))
done | sed 's/+0x0>/>/' >"$dir/theirs"
diff "$dir/some" "$dir/theirs" | head -n 10 >"$dir/diff"
[ ! -s "$dir/diff" ]
ok_or_show $? "they go where objdump says" "$dir/diff"

done_testing
