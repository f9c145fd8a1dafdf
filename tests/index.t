#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf rvtrace index: views decode less with it and print the same. The function that only runs
# first is on a page of its own.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/program.S" <<'END'
	.globl _start
	.type _start, @function
_start:
	call seldom
	call seldom
	call rounds
	call rounds
	li a7, 93
	ecall
	.size _start, . - _start
	.balign 4096
	.type seldom, @function
seldom:
	beqz zero, 1f
	nop
1:	ret
	.size seldom, . - seldom
	.balign 4096
	.type rounds, @function
rounds:
	li t0, 300000
1:	andi t1, t0, 1
	beqz t1, 2f
	addi t2, t2, 1
2:	addi t0, t0, -1
	bnez t0, 1b
	ret
	.size rounds, . - rounds
END
riscv64-linux-gnu-as -march=rv64gc -mno-relax -o "$dir/program.o" "$dir/program.S" &&
	riscv64-linux-gnu-ld --no-relax -e _start -o "$dir/program" "$dir/program.o"
build/host/rvt-execute "$dir/perf.data" "$dir/program" || skip_all "built without Unicorn"
check "an index is made" "$rv" index -i "$dir/perf.data"

# same NAME less|all COMMAND...: with the index and without; how much is decoded with it.
same()
{
	local name=$1 much=$2

	shift 2
	"$rv" "$@" -i "$dir/perf.data" >"$dir/with" 2>"$dir/with.err"
	echo $? >>"$dir/with.err"
	"$rv" "$@" -i "$dir/perf.data" --no-index >"$dir/without" 2>"$dir/without.err"
	echo $? >>"$dir/without.err"
	diff "$dir/with" "$dir/without" >"$dir/diff" && diff "$dir/with.err" "$dir/without.err" >>"$dir/diff"
	ok_or_show $? "$name: the same" "$dir/diff"
	"$rv" "$@" -i "$dir/perf.data" --verbose 2>&1 >"$dir/with" | tee "$dir/said" |
		sed -n 's/.* \([0-9]*\) of \([0-9]*\) bytes of trace are decoded.*/\1 \2/p' |
		{ read -r chosen whole && [ "$chosen" -gt 0 ] && case $much in
			less) [ "$chosen" -lt "$whole" ];;
			all) [ "$chosen" -eq "$whole" ];;
		esac; }
	ok_or_show $? "$name: $much of it is decoded" "$dir/said"
}
same "annotate: a function that ran first" less annotate seldom
same "annotate: as JSON" less annotate seldom --json
same "annotate: one that ran everywhere" all annotate rounds
same "annotate: with a filter, of which all is counted" all annotate seldom --comms program
same "script: calls of the function" less script --itrace=c --symbols seldom

# Views that keep call stacks go on from stations, which are four of these segments apart.
calls_views()
{
	local view from to second

	check "an index with calls is made" env SMALL_SLICES=16384 build/host/perf-rvtrace-small-slices index --calls \
		-i "$dir/perf.data"
	same "latency: calls of the function" less latency --no-pager seldom
	same "latency: as JSON, with the slowest" less latency --no-pager --json --slowest 1 seldom
	read -r from to second < <("$rv" stat -i "$dir/perf.data" --json |
		sed -n 's/.*"all".*"from":\([0-9]*\),"to":\([0-9]*\).*/\1 \2/p' |
		awk '{ part = ($2 - $1) / 50
			printf "%.9f %.9f", ($1 + part) / 1e9, ($2 - part) / 1e9
			printf " %.9f,%.9f\n", ($1 + 20 * part) / 1e9, ($1 + 21 * part) / 1e9 }')
	for view in "report --no-pager -g" "latency --no-pager" "profile --format folded" "profile --format counts" \
		"report --html /dev/stdout"; do
		# shellcheck disable=SC2086 # they are several words
		same "$view: what ran first" less $view --time ",$from"
		# shellcheck disable=SC2086
		same "$view: what ran last" less $view --time "$to,"
		# shellcheck disable=SC2086
		same "$view: of two times" less $view --time ",$from $second"
	done
}
if [ -x build/host/perf-rvtrace-small-slices ]; then
	calls_views
else
	skip "views of calls" "not built: make tools"
fi
"$rv" latency --no-pager -i "$dir/perf.data" seldom >"$dir/out" 2>/dev/null
is "latency: as often as it was called" "# 2 calls of seldom (program), from the trace" "$(head -n 1 "$dir/out")"
"$rv" annotate -i "$dir/perf.data" seldom >"$dir/out" 2>/dev/null
seldom=$(riscv64-linux-gnu-nm "$dir/program" | sed -n 's/^0*\([0-9a-f]*\) . seldom$/\1/p')
is "annotate: counted as executed" "$(grep -c " $seldom\$" "$dir/perf.data.insns")" \
	"$(awk -v at="$seldom:" '$3 == at || $4 == at || $5 == at || $6 == at || $7 == at { print $2 }' "$dir/out")"
is "annotate: of all that was executed" "$(wc -l <"$dir/perf.data.insns")" \
	"$(sed -n 's/^# \([0-9]*\) instructions executed.*/\1/p' "$dir/out")"
done_testing
