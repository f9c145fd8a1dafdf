#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What people look at, compared with what the emulator executed.
. "$(dirname "$0")/../lib.sh"

check "cross-compile the workload" workload latency -g -no-pie
guest main testing '' '
	insmod rvtrace.ko || exit 1
	run="taskset -c 1 ./latency"
	perf-rvtrace record -o all.data -- $run || exit 2
	perf-rvtrace record -o user.data -e rvtrace//u -- $run || exit 3
	perf-rvtrace record -o other.data -e rvtrace//u -- $run 600 || exit 4
	perf-rvtrace record -o third.data -e rvtrace//u -- $run 601 || exit 6
	perf-rvtrace record -o untimed.data -e rvtrace/timestamp=0/u -- $run || exit 5'
ok $? "a program is recorded: user and kernel, user, another way, without time stamps"

work=$dir/look
mkdir -p "$work"
# view COMMAND RECORDING [OPTIONS]: the output is in $work/out.
view()
{
	# the page has the name that is given
	(cd "$dir/share" && "$HOST/perf-rvtrace" "$1" -i "$2.data" --symfs "$dir/share:$("$LAB" path guest)" \
		"${@:3}") >"$work/out" 2>"$work/err"
}

# value PYTHON-EXPRESSION: of the objects o in the output
value()
{
	python3 -c 'import json, sys
o = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(eval(sys.argv[2]))' "$work/out" "$1"
}

# task_of RECORDING: the number of the program's thread
task_of()
{
	echo $(("$("$HOST/perf-rvtrace" script -i "$dir/share/$1.data" \
		--symfs "$dir/share:$("$LAB" path guest)" --comms latency -F tid --max-lines 1 2>/dev/null)"))
}

# true_calls NAME RECORDING [rvt-truth options]: of the calls of a function of the program, by the
# truth: how many, their own instructions, and all until they return
true_calls()
{
	local start size

	read -r start size < <("$LAB" in riscv64-linux-gnu-nm -S "$dir/share/latency" |
		awk -v name="$1" '$4 == name { print $1, $2 }')
	"$HOST/rvt-truth" --pc --scontext "$(task_of "$2")" "${@:3}" "$dir/truth/truth.1" |
		python3 -c 'import sys
start, end = int(sys.argv[1], 16), int(sys.argv[1], 16) + int(sys.argv[2], 16)
calls = own = total = back = last = 0
for line in sys.stdin:
    pc = int(line, 16)
    if not back and pc == start:
        calls += 1
        back = last + 4, last + 2
    elif back and pc in back:
        back = 0
    own += start <= pc < end
    total += bool(back)
    last = pc
print(calls, own, total)' "$start" "$size"
}

# What annotate has for each instruction of work() is how often it was executed.
true_counts()
{
	"$HOST/rvt-truth" --pc --prv 0 --scontext "$(task_of user)" "$dir/truth/truth.1" | sort | uniq -c |
		awk '{ print $2, $1 }' >"$work/true"
	python3 -c 'import json, sys
true = dict(line.split() for line in open(sys.argv[2]))
insns = [x for x in map(json.loads, open(sys.argv[1], encoding="utf-8")) if x["type"] == "insn"]
assert len(insns) > 30
for x in insns:
    assert int(true.get(x["addr"][2:].rjust(16, "0"), true.get(x["addr"][2:], 0))) == x["count"], x
branches = [x for x in insns if "taken" in x]
assert {x["taken"] for x in branches} >= {1, 998, 1000, 18000}, branches' "$work/out" "$work/true"
}
view annotate user work --json
check "annotate: as the schema has it" "$TOP/tests/tools/check-json" "$TOP/Documentation/json.rst" "$work/out"
check "annotate: counts are those that were executed, branches were taken as the source says" true_counts
view annotate user work
check "annotate: source lines" grep -q '46  *step(n, i == 10 ? slow : CALLS);' "$work/out"
check "annotate: who called" grep -q '^# entered 1000 times: 1000 from main (latency)' "$work/out"
check "annotate: what is called" grep -q 'jal .*-> step' "$work/out"
view annotate user odd
check "annotate: a branch that was never taken, or always" grep -qE ' (never|always) ' "$work/out"
check "annotate: code that never ran" grep -qE '^ +- +: ' "$work/out"
view annotate untimed work
check "annotate: no time stamps: that is said" grep -q 'has no time stamps' "$work/out"
check "annotate: no time stamps: what ran before the program, on its cpu, is decoded, too" \
	grep -q '^# all of the trace was decoded, nothing is lost' "$work/out"

"$HOST/perf-rvtrace" diff -d latency --json --symfs "$dir/share:$("$LAB" path guest)" \
	"$dir/share/other.data" "$dir/share/third.data" >"$work/out" 2>"$work/err"
is "diff: status" 0 $?
check "diff: as the schema has it" "$TOP/tests/tools/check-json" "$TOP/Documentation/json.rst" "$work/out"
line=$(grep -n 'if (n == slow)' "$TOP/tests/guest/workloads/latency.c" | cut -d : -f 1)
# step() enters odd() by a jump, and is on no stack then
is "diff: the branch that went another way, where it is, and who called" \
	"a odd latency.c:$line odd work main" \
	"$(value '[" ".join([x["branched"], x["a_from"]["sym"], x["a_from"]["file"].split("/")[-1] + ":" + str(x["a_from"]["line"])] + x["stack"][:3]) for x in o if x["type"] == "parting"][0]')"
"$HOST/perf-rvtrace" diff -d latency --json --symfs "$dir/share:$("$LAB" path guest)" \
	"$dir/share/user.data" "$dir/share/other.data" >"$work/out" 2>"$work/err"
line=$(grep -n 'unsigned long slow = argc' "$TOP/tests/guest/workloads/latency.c" | cut -d : -f 1)
is "diff: the first difference of the two is in main(), which A leaves without a number" "a main latency.c:$line" \
	"$(value '[" ".join([x["branched"], x["a_from"]["sym"], x["a_from"]["file"].split("/")[-1] + ":" + str(x["a_from"]["line"])]) for x in o if x["type"] == "parting"][0]')"
is "diff: code of odd() that was executed once less, and once" "[(0, 1), (20000, 19999)]" \
	"$(value 'sorted((x["a"], x["b"]) for x in o if x["type"] == "changed_block" and x["sym"] == "odd")')"

# The page, and the pictures in Documentation/pictures when RVT_PICTURES is set.
view report all --html "$work/page.html"
is "html: the page is made" 0 $?
if browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome); then
	pictures=${RVT_PICTURES:+$TOP/Documentation/pictures}
	for size in "1200 800" "600 800"; do
		for scheme in light dark; do
			name=${pictures:-$work}/look-${size% *}-$scheme
			# shellcheck disable=SC2086 # words
			check "html: pictures, $size, $scheme" "$TOP/tests/tools/browse" "$browser" "$work/page.html" \
				$size $scheme shot "$name-calls.png" click '#tab-timeline' \
				type '#timeline-search' rest key '#timeline-search' Enter shot "$name-timeline.png"
		done
	done
	view report all --json
	is "html: instructions are those of --json" "$(value 'o[0]["insns"]')" \
		"$("$TOP/tests/tools/browse" "$browser" "$work/page.html" 1200 800 light eval flame.state.root.total)"
fi
view report untimed --html "$work/untimed.html"
check "html: no time stamps: the page says that it has no timeline" grep -q '"timed":false' "$work/untimed.html"

view latency user work --json
check "latency: as the schema has it" "$TOP/tests/tools/check-json" "$TOP/Documentation/json.rst" "$work/out"
is "latency: calls and instructions of work() are those that were executed" \
	"$(true_calls work user --prv 0)" \
	"$(value '" ".join(str(n) for n in (o[1]["calls"], o[1]["own_insns"]["sum"], o[1]["insns"]["sum"]))')"
rm -f "$work/db"
view export user --sqlite "$work/db"
is "export: calls and instructions of work() are those that were executed" "$(true_calls work user --prv 0 | cut -d ' ' -f 1,3)" \
	"$(python3 -c 'import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute("SELECT count(*), sum(insn_count) FROM calls_view WHERE symbol = ?", ["work"]).fetchone())' "$work/db")"
view latency user spin --json
is "latency: of spin(), which work() enters by a jump" "1000 $((998 * (100 * 5 + 5) + 2 * 20005))" \
	"$(value '" ".join(str(n) for n in (o[1]["calls"], o[1]["insns"]["sum"]))')"
view latency all work --json
is "latency: of work(), with the kernel" "$(true_calls work all | cut -d ' ' -f 1,2)" \
	"$(value '" ".join(str(n) for n in (o[1]["calls"], o[1]["own_insns"]["sum"]))')"
for recording in all user; do
	view latency $recording work --slowest 3 --over 5ms --json
	is "latency, $recording: the slowest call is the one that sleeps for 5 ms" "501 True" \
		"$(value '" ".join(str(x["number"]) + " " + str(x["time"] > 5e6) for x in o if x["type"] == "slowest" and x["time"] == o[1]["time"]["max"])')"
	# others may be, when the emulator has to wait for a processor
	is "latency, $recording: those over 5 ms, and that one is" "True True" \
		"$(value '501 in [x["number"] for x in o if x["type"] == "over"], all(x["time"] > 5e6 for x in o if x["type"] == "over")' | tr -d '(),')"
	is "latency, $recording: what it called, and the median one did not" "rest" \
		"$(value '[x["sym"] for x in o if x["type"] == "callee" and x["depth"] == 1][0]')"
	is "latency, $recording: it was off the cpu for nearly all of that" True \
		"$(value '[x["away"] > 4.5e6 for x in o if x["type"] == "callee"][0]')"
	is "latency, $recording: a median one called step() 20 times" 20 \
		"$(value '[x["calls"] for x in o[[x["type"] for x in o].index("median"):] if x.get("sym") == "step"][0]')"
done
view latency all --json
is "latency: system calls and interrupts are functions" True \
	"$(value '{"[system call]", "[interrupt]"} <= {x.get("sym") for x in o}')"
view latency untimed work
check "latency: no time stamps: that is said" grep -q 'has no time stamps: calls are measured in instructions' "$work/out"
view latency untimed work --over 5ms
is "latency: --over without time stamps" 1 $?
view latency user nobody
is "latency: a function that was not called" 1 $?
check "latency: and what to do" grep -q "no call of 'nobody' is in the recording" "$work/err"
done_testing
