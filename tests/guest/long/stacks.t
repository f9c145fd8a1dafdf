#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Call stacks of a program that leaves functions by exceptions, long jumps, signals and coroutines:
# as deep as the program itself says that it is.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../contexts-lib.sh"

mkdir -p "$guest_bin"
check "cross-compile the workload" "$LAB" cross g++ -O2 -Wall -Wextra -Werror \
	-o "$guest_bin/unwinds" "$TOP/tests/guest/workloads/unwinds.cc"
keep_truth=
GUEST_TIMEOUT=900
guest main testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o user.data -e rvtrace//u -- unwinds 300 user || exit 2
	perf-rvtrace record -o kernel.data -- unwinds 100 kernel || exit 3
	perf-rvtrace record -o many.data -m ,16M -e rvtrace//u -- unwinds 50000 many thrown || exit 4'
ok $? "the program is recorded, with and without the kernel"

rv=$HOST/perf-rvtrace
# view FILE COMMAND [OPTIONS]
view()
{
	"$rv" "$2" -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" "${@:3}"
}

# depths FILE: how much deeper than main() each call of probe() is in the call trace.
depths()
{
	view "$1" script --call-trace --comms unwinds -F comm,flags,sym 2>/dev/null |
		perl -ne 'if (/( +)main\b/ && !defined $main) { $main = length $1 }
			if (/( +)probe$/) { print +(length($1) - $main) / 4, "\n" }'
}

for what in user kernel; do
	[ "$(grep -c . "$dir/share/$what")" -gt 500 ]
	ok $? "$what: the program says how deep it is"
	depths $what >"$dir/$what"
	check "$what: the call trace says the same, each time" diff "$dir/share/$what" "$dir/$what"
	same_contexts $what
	view $what stat --stacks >"$dir/stat" 2>"$dir/stat.err"
	is "$what: no stack is cut off" "call stacks were cut off 0 times" "$(grep 'cut off' "$dir/stat")"
	deepest=$(sort -n "$dir/share/$what" | tail -n 1)
	view $what profile -f folded --comms unwinds 2>/dev/null >"$dir/folded"
	is "$what: folded stacks of probe() are as deep" "$deepest" \
		"$(sed 's/ [0-9]*$//' "$dir/folded" | awk -F ';' '$NF == "probe" {
			for (i = 1; $i != "main"; i++) ; if (NF - i > n) n = NF - i } END { print n }')"
	# It recurses deeper than a folded stack is long, and all of the unwinder runs below it.
	is "$what: folded stacks give throws_from() its own instructions" \
		"$(view $what report -s sym --comms unwinds 2>/dev/null | awk '/ throws_from\(int\)$/ { print $2 }')" \
		"$(awk '/;throws_from\(int\) [0-9]+$/ { n += $NF } END { print n }' "$dir/folded")"
done

# 100000 exceptions: all calls would be some 10^8 lines, so folded stacks must do.
[ "$(grep -c . "$dir/share/many")" -gt 200000 ]
ok $? "many: the program says how deep it is"
view many stat --stacks >"$dir/stat" 2>"$dir/stat.err"
is "many: no stack is cut off" "call stacks were cut off 0 times" "$(grep 'cut off' "$dir/stat")"
# By depth: how often probe() was called, which executes as much each time. In a gigabyte of trace a
# sink may be overrun: stacks behind that are marked.
view many profile -f folded --comms unwinds 2>/dev/null | sed '/callers lost/d; s/ \([0-9]*\)$/;\1/' |
	awk -F ';' '$(NF - 1) == "probe" { for (i = 1; $i != "main"; i++) ; n[NF - 1 - i] += $NF }
		END { for (i in n) print i, n[i] }' | sort -n >"$dir/many"
sort -n "$dir/share/many" | uniq -c | awk '{ print $2, $1 }' >"$dir/said"
is "many: folded stacks of probe() are as deep" "$(cut -d ' ' -f 1 "$dir/said")" "$(cut -d ' ' -f 1 "$dir/many")"
# Where it is called rarely its list may have grown just then.
check "many: and at each depth probe() was called as often" awk 'NR == FNR { calls[$1] = $2; all += $2; next }
	{ insns[$1] = $2; sum += $2 } END { for (i in calls) if (calls[i] > 1000 && (insns[i] < calls[i] / all * sum * 0.99 ||
		insns[i] > calls[i] / all * sum * 1.01)) { print i, insns[i], calls[i] / all * sum; exit 1 } }' \
	"$dir/said" "$dir/many"

done_testing
