#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Code of programs that is in no file: what was decoded is what was executed, and nothing is missing.
. "$(dirname "$0")/lib.sh"

# decoded NAME: the flow of NAME.data into $dir/NAME.pc, the messages into $dir/NAME.err.
decoded()
{
	raw_pc "$dir/share/$1.data" >"$dir/$1.pc" 2>"$dir/$1.err"
}

# gaps NAME: how many its flow has.
gaps()
{
	grep -c '^# lost' "$dir/$1.pc"
}

# all_of NAME MIN: the recording has no gap, and it equals the truth.
all_of()
{
	if grep -m 3 '^# lost' "$dir/$1.pc" || grep -m 3 'NOT ALL' "$dir/$1.err"; then
		cat "$dir/$1.err"
		return 1
	fi
	"$HOST/rvt-truth-diff" --lossy --min "$2" "$dir/truth" <"$dir/$1.pc"
}

check "cross-compile the workload" workload made-code
check "and what it loads" "$LAB" cross-cc -O2 -shared -fPIC -DSTEPS=1 -o "$guest_bin/plugin.so" \
	"$TOP/tests/guest/workloads/plugin.c"
guest main testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -v -o all.data -e rvtrace//u -- made-code ./plugin.so toggled flushed \
		fenced memfd loaded deleted patched forked huge 2> messages || exit 2
	perf-rvtrace record --copy-code=never -o never.data -e rvtrace//u -- made-code ./plugin.so toggled || exit 3
	mkdir /tmp/huge && echo 4 > /proc/sys/vm/nr_hugepages && mount -t hugetlbfs none /tmp/huge || exit 5
	perf-rvtrace record -o replaced.data -e rvtrace//u -- made-code ./plugin.so replaced || exit 10
	perf-rvtrace record -o pages.data -e rvtrace//u -- made-code ./plugin.so hugetlb hugefile || exit 6
	perf-rvtrace record -m 4M, -o large.data -e rvtrace//u -- made-code ./plugin.so retext 2> large || exit 7
	sysctl -q -w net.core.bpf_jit_enable=1
	perf-rvtrace record -o full.data -e rvtrace//u -- made-code ./plugin.so retext 2> full || exit 8
	perf-rvtrace record -m 4M, -o text.data -e rvtrace//u -- made-code ./plugin.so retext || exit 9
	sysctl -q -w net.core.bpf_jit_enable=0
	perf-rvtrace record --copy-code=8K -o little.data -e rvtrace//u -- made-code ./plugin.so \
		flushed toggled 2> little || exit 4
	# others want the cpus while the program ends
	for i in 1 2 3 4; do sh -c "while :; do :; done" & busy="$busy $!"; done
	for i in 1 2 3; do
		perf-rvtrace record -o busy$i.data -e rvtrace//u -- made-code ./plugin.so loaded deleted || exit 11
	done
	kill $busy'
ok $? "code that is in no file was recorded"
grep -qa exec_mm_release "$dir/share/perf-rvtrace"
has_bpf=$?
decoded never
# More than three when something else had the hart meanwhile.
[ "$(gaps never)" -ge 3 ]
ok $? "without copies each run of the code is lost ($(gaps never) gaps)"
check "and that is said" grep -q 'NOT ALL of the flow is here' "$dir/never.err"
check "with what lost most" grep -qx "  $(gaps never) times in //anon of made-code" "$dir/never.err"
check "and what can be done" grep -q 'Record as root, .*--copy-code' "$dir/never.err"
if [ $has_bpf -ne 0 ]; then
	echo "# built without clang: such code is not copied"
	done_testing
	exit
fi
check "that it is copied is said" grep -q 'in no file is copied by BPF programs' "$dir/share/messages"
decoded all
check "with copies all was decoded, and is what was executed" all_of all 150000
decoded replaced
check "what a program leaves behind that becomes another one" all_of replaced 10000
decoded pages
check "memory of the pool of huge pages, and files there" all_of pages 10000
decoded text
check "text that a program moves to huge pages" all_of text 10000
check "more than a kernel copies that does not compile: says so" grep -q 'more than 128 KiB of code' "$dir/share/large"
check "more than the buffers have room for: says so" grep -q 'huge pages: try -m 8M,' "$dir/share/full"
for name in large full; do
	decoded $name
	check "$name: what was decoded is what was executed" \
		sh -c "'$HOST/rvt-truth-diff' --lossy --min 10000 '$dir/truth' <'$dir/$name.pc'"
done
decoded little
for i in 1 2 3; do
	decoded busy$i
	check "of a program that ends on a busy cpu, time $i" all_of busy$i 10000
done
check "a limit: says so" grep -q 'not all code of programs .* --copy-code=SIZE' "$dir/share/little"
[ "$(gaps little)" -ge 1 ]
ok $? "a limit: what came before it was copied, the rest is lost ($(gaps little) gaps)"
check "a limit: what was decoded is what was executed" \
	sh -c "'$HOST/rvt-truth-diff' --lossy --min 100000 '$dir/truth' <'$dir/little.pc'"
check "no violation" no_violations
done_testing
