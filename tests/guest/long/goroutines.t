#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Call stacks of a Go program, whose goroutines take turns on threads and move between them: as deep
# as the program itself says that it is, each on its own stack.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../contexts-lib.sh"

command -v go >/dev/null || skip_all "there is no Go compiler (Debian: golang-go)"
mkdir -p "$guest_bin"
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
build()
{
	GOCACHE=$cache GOPATH=$cache GO111MODULE=off GOOS=linux GOARCH=riscv64 CGO_ENABLED=0 \
		go build -o "$guest_bin/goroutines" "$TOP/tests/guest/workloads/goroutines.go"
}
check "Go builds the workload, with what is installed" build
keep_truth=
GUEST_TIMEOUT=900
guest main testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o /tmp/user.data -m ,16M -e rvtrace//u -- goroutines 60 user || exit 2
	perf-rvtrace record -o /tmp/kernel.data -m ,16M -- goroutines 10 kernel || exit 3
	mv /tmp/*.data .'
ok $? "the program is recorded, with and without the kernel"

rv=$HOST/perf-rvtrace
# view FILE COMMAND [OPTIONS]
view()
{
	"$rv" "$2" -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" "${@:3}"
}

# depths FILE: how many calls of probe() there are of each depth in the call trace. It indents by 4,
# and no further than by 200.
depths()
{
	view "$1" script --call-trace --comms goroutines -F flags,sym 2>/dev/null |
		perl -ne 'if (/call     ( *)main\.probe$/) { print length($1) / 4, "\n" }' |
		sort -n | uniq -c
}

for what in user kernel; do
	[ "$(grep -c . "$dir/share/$what")" -gt 300 ]
	ok $? "$what: the program says how deep it is"
	awk '{ print $2 < 50 ? $2 : 50 }' "$dir/share/$what" | sort -n | uniq -c >"$dir/said"
	depths $what >"$dir/$what"
	check "$what: each depth as often in the call trace" diff "$dir/said" "$dir/$what"
	same_contexts $what
	view $what stat --stacks >"$dir/stat" 2>"$dir/stat.err"
	is "$what: no stack is cut off for good" "call stacks were cut off 0 times" \
		"$(grep 'cut off' "$dir/stat")"
	view $what profile -f folded --comms goroutines 2>/dev/null >"$dir/folded"
	# Behind the thread's name is what the goroutine began with. One that has waited for the lock in
	# probe() may be looked for until that returns.
	sed -n '/callers lost/d; s/;main\.probe [0-9]*$//p' "$dir/folded" |
		awk -F ';' '{ print $3, NF - 2 }' | sort -u >"$dir/stacks"
	sort -u "$dir/share/$what" >"$dir/said"
	check "$what: folded stacks are those of one goroutine each" diff "$dir/said" "$dir/stacks"
	check "$what: callers are not known in less than 1 of 1000 instructions" awk '{ n += $NF }
		/callers lost/ { lost += $NF } END { print lost " of " n; exit lost * 1000 > n }' \
		"$dir/folded"
	grep -q 'asyncPreempt2;runtime.mcall' "$dir/folded"
	ok $? "$what: goroutines were preempted by signals"
	deepest=$(awk '{ print $2 }' "$dir/share/$what" | sort -n | tail -n 1)
	is "$what: no folded stack of the program's functions is deeper than it says" "" \
		"$(awk -F ';' -v deepest="$deepest" '{ n = 0; for (i = 2; i <= NF; i++) n += $i ~ /^main\./
			if (n > deepest + 2) print }' "$dir/folded" | head -n 3)"
done

done_testing
