#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Samples of ordinary events with call chains and branches from the trace, filters by function,
# source lines, disassembly, and the driver's tracepoints: what stock tools show of them.
. "$(dirname "$0")/../lib.sh"

check "cross-compile the workloads" workload nested -g
workload calls
check "and that with system calls" workload writes
check "the plugin of libtraceevent compiles" make -s -C "$TOP" build/riscv64/plugin_rvtrace.so
mkdir -p "$guest_bin"
cp "$TOP/build/riscv64/plugin_rvtrace.so" "$guest_bin/"
GUEST_TIMEOUT=900
guest main testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o both.data -e rvtrace// -e cpu-clock -F 2000 -- nested > out || exit 2
	perf-rvtrace inject -i both.data -o added.data --itrace=G16L8 || exit 3
	perf script -i both.data -F event,ip,sym --no-itrace > plain || exit 4
	perf script -i added.data -F event,ip,sym > chains || exit 5
	perf script -i added.data -F event,brstacksym > branches || exit 6
	perf report -i added.data --branch-history --stdio > history || exit 7
	perf report -i added.data --stdio -g caller --no-children > graph || exit 8
	perf-rvtrace script -i both.data --insn-trace=disasm -S second -F comm,ip,disasm --max-lines 100 > disasm || exit 9
	perf-rvtrace script -i both.data --insn-trace -S third --comms nested -F ip,srcline --max-lines 500 > srcline || exit 10
	perf-rvtrace report -i both.data -s srcline --dsos nested > lines || exit 11
	perf-rvtrace record -o filter.data -e rvtrace//u --filter "filter leaf #1 @ ./calls" -- calls > /dev/null || exit 12
	perf-rvtrace report -i filter.data -s dso,sym > filter || exit 13
	perf-rvtrace record -o wrong.data --filter "filter leaff @ ./calls" -- calls > /dev/null 2> wrong && exit 14
	perf-rvtrace record -o wrong.data --filter "filter leaf #2 @ ./calls" -- calls > /dev/null 2> second && exit 14
	perf-rvtrace record -o fields.data -e rvtrace//,sched:sched_switch,syscalls:sys_enter_write \
		-e cpu-clock/freq=500,name=tick/u -- writes > /dev/null || exit 17
	perf script -i fields.data --no-itrace -F event,trace > fields || exit 18
	perf report -i fields.data --no-itrace --stdio > fields.report || exit 19
	perf-rvtrace inject -i fields.data -o with.data --itrace=G32L8 || exit 20
	perf script -i with.data -F event,trace,ip,sym > with || exit 21
	perf script -i with.data -F event,brstack > with.branches || exit 22
	perf-rvtrace record -o user.data -e rvtrace//u,sched:sched_switch,syscalls:sys_enter_write -- writes > /dev/null || exit 23
	perf-rvtrace inject -i user.data -o user.with --itrace=G32 && perf script -i user.with -F event,ip,sym > user || exit 24
	perf-rvtrace record -o none.data -e L1-dcache-loads:u -- true > /dev/null 2> no-counter && exit 25
	setpriv --reuid 1000 --regid 1000 --clear-groups perf-rvtrace record -o /tmp/none.data -e sched:sched_switch -- true \
		2> no-rights && exit 26
	perf record -q -a -e "rvtrace:*" -o points.data -- perf-rvtrace record -q -o p.data -- true || exit 15
	TRACEEVENT_PLUGIN_DIR=/mnt/share perf script -i points.data > points || exit 16
	echo all > done'
status=$?
[ -s "$dir/share/done" ] || tail -n 40 "$dir/output" | sed 's/^/# /'
ok $status "everything ran in the guest (exit status $status)"
out=$dir/share

plain=$(grep -c 'cpu-clock.*third' "$out/plain")
[ "$plain" -gt 10 ]
ok $? "the event was sampled beside the trace ($plain samples in third)"
is "as many samples with call chains as before" \
	"$(grep -c cpu-clock "$out/plain")" "$(grep -c cpu-clock "$out/chains")"
is "each sample in third was called by second, first, main" "$plain" \
	"$(awk 'BEGIN { RS = ""; FS = "\n" } /cpu-clock/ {
		n = split($0, lines, "\n"); text = ""
		for (i = 2; i <= n; i++) { split(lines[i], word, " "); text = text " " word[2] }
		if (text ~ /^ third second first main/) count++ } END { print count + 0 }' "$out/chains")"
is "the newest branch before each sample in third ended there" "$plain" \
	"$(grep -c 'cpu-clock: [^/]*/third+0x' "$out/branches")"
check "perf report --branch-history shows them" grep -q 'third' "$out/history"
is "perf report -g shows the call graph: 5 lines from main to third" "main first second third" \
	"$(grep -m 1 -A 3 '^[ |]*main$' "$out/graph" | awk '{ printf "%s%s", sep, $NF; sep = " " }')"

# The compiler's own words for what was executed: the mnemonics, by another disassembler.
"$LAB" in riscv64-linux-gnu-objdump -d -M no-aliases \
	--no-show-raw-insn --disassemble=second "$out/nested" |
	awk '$1 ~ /^[0-9a-f]+:$/ { print $2 }' | sort -u >"$dir/expected"
awk '{ print $3 }' "$out/disasm" | sort -u >"$dir/found"
check "disassembly: the mnemonics are objdump's" diff "$dir/expected" "$dir/found"
line=$(grep -n 'n & 3 ? n : 1' "$TOP/tests/guest/workloads/nested.c" | cut -d: -f1)
check "source lines: that of the loop's body" grep -q "nested.c:$line\$" "$out/srcline"
is "report by source line: it has the most instructions" "nested.c:$line" \
	"$(awk '/%/ { print $NF; exit }' "$out/lines" | sed 's,.*/,,')"

leaf=$("$LAB" in riscv64-linux-gnu-objdump -d --no-show-raw-insn --disassemble=leaf "$out/calls" |
	grep -c '^ *[0-9a-f]*:')
is "filter by function: its instructions, all of them" \
	$((1345 * leaf)) "$(awk '$NF == "leaf" { print $2 }' "$out/filter")"
is "and nothing else" 1 "$(grep -c '%' "$out/filter")"
check "filter: a second function of that name, which is not there" \
	grep -q "#1 0x.* local" "$out/second"
check "filter: a function that is not there" grep -q "no function 'leaff' in .*/calls" "$out/wrong"

# chains FILE EVENT FUNCTIONS...: samples of the event whose call chain has these next to each
# other.
chains()
{
	awk -v event="$2" -v functions=" ${*:3} " 'BEGIN { RS = ""; FS = "\n" } index($1, event) {
		text = " "
		for (i = 2; i <= NF; i++) { split($i, word, " "); text = text word[2] " " }
		if (index(text, functions)) n++ } END { print n + 0 }' "$out/$1"
}
is "tracepoints beside the trace: stock perf prints their fields" 22 \
	"$(grep -c 'syscalls:sys_enter_write: fd: 0x00000001, .*count: 0x00000002' "$out/fields")"
# When the machine is slow, the time is over before it sleeps.
slept=$(grep -c 'sched_switch: prev_comm=writes .*prev_state=S ' "$out/fields")
[ "$slept" -gt 3 ] && [ "$slept" -le 11 ]
ok $? "a switch for each time it slept ($slept)"
check "an event by a name of its own" grep -q '^ *tick:' "$out/fields"
check "stock perf report has them all" sh -c "for event in sched:sched_switch syscalls:sys_enter_write tick; do
	grep -q \"of event '\$event\" '$out/fields.report' || exit 1; done"
"$HOST/perf-rvtrace" script -i "$out/fields.data" --symfs "$out:$("$LAB" path guest)" \
	--max-lines 9 >/dev/null 2>"$out/mention"
check "script says who prints the samples" \
	grep -q 'samples of sched:sched_switch .*perf script --no-itrace' "$out/mention"
is "with the trace: writes from outer" 17 "$(chains with sys_enter_write inner outer main)"
is "writes from main" 5 "$(chains with sys_enter_write inner main)"
is "each of them below rest" "$slept" "$(chains with prev_state=S rest main)"
is "each switch came there by a branch in __schedule" "$(grep -c sched_switch "$out/fields")" \
	"$(grep -c 'sched_switch: *0xffffffff[0-9a-f]*/0xffffffff' "$out/with.branches")"
is "of user code alone: writes from outer, from main" "17 5" \
	"$(chains user sys_enter_write inner outer main) $(chains user sys_enter_write inner main)"
# 17 + 5 writes are not below rest.
[ "$(grep -c " rest$" "$out/user")" -gt 3 ]
ok $? "of user code alone: it slept below rest"
check "an event that the hardware lacks: says so" \
	grep -q "'L1-dcache-loads:u': the hardware of cpu . does not have" \
	"$out/no-counter"
check "a tracepoint without rights: says what to do" \
	grep -q 'sched:sched_switch: .*need root' "$out/no-rights"

check "tracepoints in words: start" \
	grep -q 'rvtrace_start: .*cpu [01] starts into sink [0-9]' "$out/points"
check "tracepoints in words: drain" \
	grep -q 'rvtrace_drain: .*sink [0-9]* gives [0-9]* ' "$out/points"
check "tracepoints in words: stop" grep -q 'rvtrace_stop: .*cpu [01] stops' "$out/points"

done_testing
