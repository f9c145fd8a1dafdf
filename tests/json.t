#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# --json: every line is an object that the schema in Documentation/json.rst describes, and says what
# the text says.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
command -v python3 >/dev/null || skip_all "there is no python3"
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=$'a"\\\033[2J\n\xff'
build/host/rvt-recording "$dir/perf.data" "$dir/program" 0x1000 "$bad" 6000
printf '.globl begin\nbegin: .incbin "%s"\n.size begin, . - begin\n.type begin, @function\n' \
	"$dir/perf.data.program" | riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" -
riscv64-linux-gnu-ld -Ttext=0x80001000 -e begin -o "$dir/program" "$dir/program.o"
cp "$dir/perf.data" "$dir/damaged"
printf '\125\252\023\167' | dd of="$dir/damaged" bs=1 seek=5000 conv=notrunc 2>/dev/null

# json NAME EXPECTED_TYPES COMMAND...: the output is in out
json()
{
	"$rv" "${@:3}" --json >"$dir/out" 2>"$dir/err"
	is "$1: status" 0 $?
	tests/tools/check-json Documentation/json.rst "$dir/out" >"$dir/types" 2>&1
	[[ $(cat "$dir/types") =~ ^$2$ ]]
	ok_or_show $? "$1: as the schema has it" "$dir/types"
}

# value PYTHON-EXPRESSION: of the objects o
value()
{
	python3 -c 'import json, sys
o = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(eval(sys.argv[2]))' "$dir/out" "$1"
}

json report "losses:1 row:1" report -i "$dir/perf.data"
is "report: instructions" "$("$rv" report -i "$dir/perf.data" | sed -n 's/^# \([0-9]*\) instructions.*/\1/p')" \
	"$(value 'o[0]["insns"]')"
is "report: names" 'a"\\033[2J\n\377 begin' "$(value 'o[1]["comm"] + " " + o[1]["sym"]')"
json "report with all keys" "losses:1 row:2" report -i "$dir/perf.data" -s comm,pid,tid,cpu,dso,sym,srcline
json "report -g" "losses:1 node:[0-9]+" report -g -i "$dir/perf.data"
is "report -g: the root has it all" True "$(value 'o[1]["total"] == o[0]["insns"] and o[1]["depth"] == 0')"
json "annotate" "code:1 insn:[0-9]+ losses:1" annotate -i "$dir/perf.data"
is "annotate: every instruction is counted" True \
	"$(value 'o[1]["insns"] == o[0]["insns"] == sum(x["count"] for x in o if x["type"] == "insn")')"
json "diff of equals" "losses:2" diff "$dir/perf.data" "$dir/perf.data"
build/host/rvt-recording "$dir/longer.data" "$dir/program" 0x1000 "$bad" 6500
json "diff" "(changed_block:[0-9]+ )?changed_function:[0-9]+ changed_path:[0-9]+ losses:2 parting:1" \
	diff "$dir/perf.data" "$dir/longer.data"
is "diff: B goes on where A ends" "False True" "$(value 'str("a_from" in o[2]) + " " + str("b_from" in o[2])')"
is "diff: instructions of the one function" "True" \
	"$(value '[(x["a"], x["b"]) for x in o if x["type"] == "changed_function" and x["sym"] == "begin"] == [(o[0]["insns"], o[1]["insns"])]')"
"$rv" diff --exit-code 1 "$dir/perf.data" "$dir/longer.data" >"$dir/out" 2>"$dir/err"
is "diff --exit-code: more" 2 $?
"$rv" diff --exit-code 1 "$dir/longer.data" "$dir/perf.data" >"$dir/out" 2>"$dir/err"
is "diff --exit-code: less" 0 $?
json "latency" "latency:[0-9]+ losses:1" latency -i "$dir/perf.data"
json "latency of a function" "(callee:[0-9]+ )?latency:1 losses:1( median:1)?( over:[0-9]+)?( slowest:[0-9])?" latency begin --over 1ns --slowest 2 -i "$dir/perf.data"
json "report -g callee" "losses:1 node:[0-9]+" report -g callee -i "$dir/perf.data" --max-lines 20
json stat "all:1 cpu:2 losses:1 stream:1" stat -i "$dir/perf.data"
is "stat: the sum" "$("$rv" stat -i "$dir/perf.data" | awk '$1 == "all" { print $2, $3, $5 }')" \
	"$(value '" ".join(str(o[3][k]) for k in ("trace_bytes", "insns", "traps"))')"
branches=$("$rv" script -i "$dir/perf.data" | wc -l)
for jobs in 1 3; do
	json "script --jobs $jobs" "losses:1 sample:$branches" script --jobs $jobs -i "$dir/perf.data"
	cp "$dir/out" "$dir/jobs.$jobs"
done
cmp "$dir/jobs.1" "$dir/jobs.3"
ok $? "script: the same with more threads"
is "script: addresses" "$("$rv" script -i "$dir/perf.data" -F ip,addr | awk '{ print $1, $3 }' | cksum)" \
	"$(value '"\n".join(x["ip"]["addr"][2:] + " " + x["to"]["addr"][2:] for x in o[:-1])' | cksum)"
json "script --insn-trace" "losses:1 sample:[0-9]+" script --insn-trace=raw -i "$dir/perf.data" -F +insnlen,srcline
is "script --insn-trace: all instructions" True "$(value 'len(o) - 1 == o[-1]["insns"]')"
json "script --call-ret-trace" "call:[0-9]+ losses:1" script --call-ret-trace -i "$dir/perf.data"
json "script --itrace" "losses:1 sample:[0-9]+" script --itrace=i100ibcrgl -i "$dir/perf.data" -F +period,brstacksym
# Marks, of a dialect that has them: as many as in the text, and each with its value.
build/host/rvt-recording "$dir/marks.data" "$dir/program" 0x1000 prog 6000 sifive
marks=$("$rv" script -i "$dir/marks.data" | grep -c ' user: ')
[ "$marks" -gt 10 ]
ok $? "marks in the text"
json "script: marks" "losses:1 mark:$marks sample:[0-9]+" script -i "$dir/marks.data"
is "script: what marks say" "0x4 0xcafe 4" \
	"$(value '" ".join(sorted({x["tag"] + " " + x["value"] + " " + str(x["bytes"]) for x in o if x["type"] == "mark"}))')"
json "script: no marks" "losses:1 sample:[0-9]+" script --itrace=b -i "$dir/marks.data"
json "a damaged recording" "gap:1 losses:1 sample:[0-9]+" script -i "$dir/damaged"
is "a damaged recording: that is said" "True 1" "$(value 'str(o[-1]["lost"]) + " " + str(o[-1]["gaps"])')"
if "$rv" script --insn-trace=disasm -i "$dir/perf.data" --max-lines 1 >/dev/null 2>&1; then
	json "disassembly" "losses:1 sample:[0-9]+" script --insn-trace=disasm -i "$dir/perf.data"
	is "disassembly: targets" True "$(value 'any("target" in x for x in o)')"
fi

# dump has an object for each message.
"$rv" dump --json "$dir/perf.data" >"$dir/out" 2>"$dir/err"
is "dump: objects" "$(sed -n 's/.*: \([0-9]*\) messages.*/\1/p' "$dir/err")" "$(value 'sum("message" in x for x in o)')"
is "dump: each is at an offset" True \
	"$(value 'all(isinstance(x["offset"], int) for x in o if "message" in x)')"

pmu=$dir/sys/bus/event_source/devices/rvtrace
mkdir -p "$pmu/format" "$pmu/caps" "$dir/sys/bus/rvtrace/devices/encoder-0"
echo 12 >"$pmu/type"
echo 0-1 >"$pmu/cpumask"
echo config:16 >"$pmu/format/timestamp"
echo config3:0-63 >"$pmu/format/ecause"
echo context >"$pmu/caps/features"
printf 'protocol = ntrace\nmode = htm\n' >"$dir/sys/bus/rvtrace/devices/encoder-0/params"
json list "component:1 pmu:1" list --sysfs "$dir/sys"
is "list: terms and what the hardware takes of them" "ecause:0xffffffffffffffff timestamp:0x0" \
	"$(value '" ".join(t["name"] + ":" + t["max"] for t in o[0]["terms"])')"
json doctor "check:2 verdict:1" doctor --sysfs "$dir/sys"
is "doctor: what the text says" "True 0 good note" \
	"$(value 'str(o[-1]["works"]) + " " + str(o[-1]["bad"]) + " " + " ".join(sorted({x["verdict"] for x in o[:-1]}))')"
json list "component:1 pmu:1" list --sysfs "$dir/sys"
is "list: a file of several lines" 'protocol = ntrace\nmode = htm' "$(value 'o[1]["params"]')"

"$rv" script --raw-pc --json -i "$dir/perf.data" 2>"$dir/err"
is "--raw-pc --json" 1 $?
"$rv" report --json -i "$dir/perf.data" >/dev/full 2>"$dir/err"
is "--json to a full disk" 1 $?

done_testing
