#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Profiles for compilers, made of counts that are made up: no guest is booted. What the lines are is
# seen in the source below.
. "$(dirname "$0")/lib.sh"
rv=$HOST/perf-rvtrace
dir=$TOP/build/guest/$test_name
rm -rf "$dir"
mkdir -p "$dir"
cat >"$dir/program.c" <<'END'
volatile int seen;
static inline __attribute__((always_inline)) int add(int x)
{
	seen += x;
	return seen;
}
__attribute__((noinline)) int leaf(int x)
{
	return add(x) + add(2);
}
int (*volatile pointer)(int) = leaf;
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 100)
		seen = 5;
	return leaf(argc) + pointer(3);
}
END
# No instruction is moved to another line.
"$LAB" cross-cc -g -O1 -fno-schedule-insns -fno-schedule-insns2 -no-pie -o "$dir/program" \
	"$dir/program.c"
ok $? "the program compiles"
# symbol NAME: its address and its size, as numbers.
symbol()
{
	local value size

	read -r value size < <("$LAB" cross nm -S "$dir/program" |
		awk -v name="$1" '$NF == name { print $1, $2 }')
	echo $((16#$value)) $((16#$size))
}
# calls TYPE: addresses of the calls in main of this form of instruction.
calls()
{
	"$LAB" cross objdump -d --no-show-raw-insn --disassemble=main "$dir/program" |
		sed -nE "s/^ *([0-9a-f]+):[[:space:]]+$1.*/\1/p"
}
read -r main size < <(symbol main)
read -r leaf leaf_size < <(symbol leaf)
direct=$(calls 'jal[[:space:]]+[0-9a-f]+ <leaf>')
indirect=$(calls 'jalr[[:space:]]+')
main_end=$(calls 'ret')
leaf_end=$("$LAB" cross objdump -d --no-show-raw-insn --disassemble=leaf "$dir/program" |
	sed -nE 's/^ *([0-9a-f]+):[[:space:]]+ret.*/\1/p')
# main ran 3 times and all of it, leaf 6: 3 calls each way.
printf '%s\n' 'rvtrace counts 1' 'file program' "path $dir/program" 'bases 0 0' 'ran 100' \
	"F $(printf %x "$main") $main_end 3" "F $(printf %x "$leaf") $leaf_end 6" \
	"B $direct $(printf %x "$leaf") 3" "B $indirect $(printf %x "$leaf") 3" >"$dir/counts"
check "profile for clang" "$rv" profile -i "$dir/counts" -f clang -o "$dir/clang"
# Without discriminators, which are the compiler's choice.
lines()
{
	sed -E 's/^( *[0-9]+)\.[0-9]+:/\1:/' "$dir/clang" | grep -E "^$1" | sort -u
}
is "functions, and how often they were called" $'leaf:6\nmain:3' \
	"$(sed -nE 's/^([a-z]+):[0-9]+:/\1:/p' "$dir/clang")"
# The code at the function's begin and end is of the braces' lines.
is "lines of main" $' 1: 3\n 3: 3\n 4: 3\n 5: 3 leaf:6\n 6: 3' "$(awk '/^[a-z]/ { on = /^main/; next } on' "$dir/clang" |
	sed -E 's/^( *[0-9]+)\.[0-9]+:/\1:/' | sort -u)"
is "what was inlined, by where it was called" $' 2: add' \
	"$(sed -nE 's/^( 2)(\.[0-9]+)?: add:.*/\1: add/p' "$dir/clang" | sort -u)"
is "lines of what was inlined" $'  2: 6\n  3: 6' "$(lines '  [0-9]')"

"$rv" profile -i "$dir/counts" -f gcc -o "$dir/gcc"
ok $? "profile for GCC"
"$LAB" cross-cc -g -O1 -no-pie -fauto-profile="$dir/gcc" -Werror -fdump-ipa-afdo \
	-dumpdir "$dir/" -o "$dir/again" "$dir/program.c"
ok $? "GCC reads it"
# GCC's own words for what it read.
is "GCC finds main called 3 times" 3 \
	"$(sed -nE 's/.*main.*head_count:? ?([0-9]+).*/\1/p;s/^main.*total:[0-9]+ head:([0-9]+).*/\1/p' \
		"$dir"/*.afdo | head -n 1)"
"$rv" profile -i "$dir/counts" -f gcc15 -o "$dir/gcc15"
ok $? "profile for GCC 15 and before"
check "GCC 14 reads it" "$LAB" cross gcc-14 "--sysroot=$("$LAB" path guest)" -g -O1 -no-pie -Werror \
	-fauto-profile="$dir/gcc15" -o "$dir/again" "$dir/program.c"
"$LAB" cross strip -g -o "$dir/bare" "$dir/program"
sed "s|path .*|path $dir/bare|" "$dir/counts" >"$dir/counts.bare"
"$rv" profile -i "$dir/counts.bare" -f clang >"$dir/out" 2>&1
is "a file without source lines is an error" 1 $?
check "that says what to do" grep -F 'compile it with -g' "$dir/out"
done_testing
