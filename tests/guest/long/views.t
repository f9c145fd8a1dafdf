#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What report, script, inject, profile and stat say of a program whose calls are known in number,
# and of everything that the emulator executed while it was traced.
. "$(dirname "$0")/../lib.sh"

# DWARF 4 is what Debian's autofdo reads.
check "cross-compile the workload" workload calls -gdwarf-4
guest main testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o perf.data -- calls > out || exit 2
	perf-rvtrace list > list || exit 3
	# what inject writes is read by stock tools; here, as they need the files and tools of the
	# machine
	perf-rvtrace inject -o chain.data --itrace=i10000ig && perf-rvtrace inject -o branches.data \
		--itrace=i10000il8g &&
		perf-rvtrace inject -o c.data --itrace=c --comms calls || exit 4
	perf report -i c.data --stdio > report && perf report -i chain.data --stdio -g caller > graph || exit 5
	perf script -i branches.data -F ip,sym,brstack > brstack || exit 6
	perf script -i chain.data -F comm,period > periods || exit 7
	perf script -i c.data -F comm,event,addr,sym > c || exit 8
	perf annotate -i c.data --stdio -s middle > annotate || exit 9
	perf evlist -i branches.data > evlist || exit 10'
ok $? "a program is recorded, user and kernel"

rv=$HOST/perf-rvtrace
work=$dir/views
mkdir -p "$work"
# view COMMAND [OPTIONS]: of the recording.
view()
{
	"$rv" "$1" -i "$dir/share/perf.data" --symfs "$dir/share:$("$LAB" path guest)" "${@:2}"
}

view report >"$work/report" 2>"$work/report.err"
view script --call-trace --comms calls -F comm,flags,dso >"$work/calls" 2>/dev/null
view profile -f folded >"$work/folded" 2>/dev/null
view profile -f llvm --dso calls >"$work/llvm" 2>/dev/null
view profile -f bolt --dso calls >"$work/bolt" 2>/dev/null
view profile -f autofdo --dso calls >"$work/autofdo" 2>/dev/null
view profile -f lcov --dso calls >"$work/info" 2>/dev/null
view profile -f chrome >"$work/chrome" 2>/dev/null
view profile -f svg >"$work/svg" 2>/dev/null
view stat >"$work/stat" 2>/dev/null

truth_count()
{
	for file in "$dir"/truth/truth.*; do
		"$HOST/rvt-truth" --pc --traced "$file"
	done | wc -l
}
truth=$(truth_count)
address_of_leaf=$("$LAB" in riscv64-linux-gnu-nm "$dir/share/calls" | awk '$3 == "leaf" { sub(/^0+/, "", $1); print $1 }')

# column N NAME: of the line of a function of the program in the report.
column()
{
	awk -v n="$1" -v name="$2" '$5 == "calls" && $6 == "calls" && $NF == name { print $n }' \
		"$work/report"
}

# calls NAME: lines of the call trace.
calls()
{
	grep -c " $1 (.*calls)" "$work/calls"
}

is "report: all that the emulator executed" \
	"$truth" "$(awk '/instructions executed/ { print $2 }' "$work/report")"
is "report: the lines add up" \
	"$truth" "$(awk '/^ *[0-9.]+%/ { sum += $2 } END { print sum }' "$work/report")"
is "report: calls of leaf" 1345 "$(column 4 leaf)"
is "report: calls of middle" 100 "$(column 4 middle)"
is "report: calls of deep" 40 "$(column 4 deep)"
# A call of leaf executes all of it, once: by the disassembler it has so many instructions.
in_leaf=$("$LAB" in riscv64-linux-gnu-objdump -d --disassemble=leaf "$dir/share/calls" | grep -c '^ *[0-9a-f]*:')
view report -g --percent-limit 0 >"$work/graph" 2>/dev/null
is "call graph: leaf below middle and below main" "$((1000 * in_leaf)) $((345 * in_leaf))" \
	"$(awk '$4 == "leaf" { print $3 }' "$work/graph" | paste -sd ' ')"
view report -g callee -S leaf --percent-limit 0 >"$work/callers" 2>/dev/null
is "callers: leaf, from middle, from main" \
	"leaf $((1345 * in_leaf)) middle $((1000 * in_leaf)) main $((345 * in_leaf))" \
	"$(awk '$3 ~ /^(leaf|middle)$/ || ($3 == "main" && $2 == '$((345 * in_leaf))') { print $3, $2 }' "$work/callers" |
		paste -sd ' ')"
is "call trace: calls of leaf" 1345 "$(calls leaf)"
is "call trace: calls of deep" 40 "$(calls deep)"
is "call trace below middle: calls of middle, leaf, deep" \
	"100 1000 0" "$(view script --call-trace --comms calls \
	--graph-function middle -F comm,flags 2>/dev/null |
	awk '{ n[$3]++ } END { print n["middle"] + 0, n["leaf"] + 0, n["deep"] + 0 }')"
is "call trace: 40 levels of deep" 40 "$(grep ' deep (.*calls)' "$work/calls" | awk '{ match($0, / *deep/); print RLENGTH }' | sort -u | wc -l)"
is "call trace: as deep after the long jumps as after them all" \
	1 "$(grep ' after_escape (.*calls)' "$work/calls" |
	awk '{ match($0, / *after_escape/); depth[NR] = RLENGTH } END { print (depth[1] - depth[2]) / 4 }')"
is "folded stacks: the instructions add up" \
	"$truth" "$(awk '{ sum += $NF } END { print sum }' "$work/folded")"
check "folded stacks: leaf below middle and main" grep -q ';main;middle;leaf ' "$work/folded"
is "llvm profile: branches to leaf" 1345 "$(awk -F'->|:' -v leaf="$address_of_leaf" \
	'/->/ && $2 == leaf { sum += $3 } END { print sum }' "$work/llvm")"
is "bolt profile: branches to leaf" 1345 "$(awk -v leaf="$address_of_leaf" \
	'$1 == "B" && $3 == leaf { sum += $4 } END { print sum }' "$work/bolt")"

# The profile tools, where they are, find the numbers that calls.c has in its first comment.
tool()
{
	local name

	for name in "$1"-{22,21,20,19}; do
		if command -v "$name"; then
			return
		fi
	done
	return 1
}
if profgen=$(tool llvm-profgen) && profdata=$(tool llvm-profdata); then
	check "llvm-profgen reads the profile" "$profgen" --binary="$dir/share/calls" \
		--unsymbolized-profile="$work/llvm" --output="$work/prof"
	is "llvm-profgen: calls of leaf, middle, deep" "1345 100 40" "$(for name in leaf middle deep; do
		"$profdata" show --sample "$work/prof" | sed -n "s/^Function: $name: [0-9]*, \([0-9]*\),.*/\1/p"
	done | paste -sd ' ')"
else
	echo "# no llvm here: llvm-profgen is not tested"
fi
if bolt=$(tool llvm-bolt); then
	check "llvm-bolt reads the profile" "$bolt" "$dir/share/calls" -pa --data "$work/bolt" \
		--reorder-blocks=ext-tsp -o "$work/calls.bolt"
else
	echo "# no bolt here: llvm-bolt is not tested"
fi
if command -v create_llvm_prof >/dev/null; then
	check "create_llvm_prof reads the profile" \
		create_llvm_prof --binary="$dir/share/calls" --profiler=text \
		--profile="$work/autofdo" --format=text --out="$work/autofdo.txt"
	is "create_llvm_prof: calls of leaf, middle, deep" "1345 100 40" "$(for name in leaf middle deep; do
		sed -n "s/^$name:[0-9]*:\([0-9]*\)$/\1/p" "$work/autofdo.txt"
	done | paste -sd ' ')"
else
	echo "# no autofdo here: create_llvm_prof is not tested"
fi
is "coverage: calls of leaf, middle, deep" "1345 100 40" "$(for name in leaf middle deep; do
	sed -n "s/^FNDA:\([0-9]*\),$name$/\1/p" "$work/info"
done | paste -sd ' ')"
line=$(grep -n 'leaf(i + n);' "$TOP/tests/guest/workloads/calls.c" | cut -d : -f 1)
is "coverage: the line in middle's loop" 1000 "$(sed -n "s/^DA:$line,//p" "$work/info")"
line=$(grep -n 'i < 10;' "$TOP/tests/guest/workloads/calls.c" | cut -d : -f 1)
is "coverage: of the branch in middle's loop 900 went on, 100 ended it" "100 900" \
	"$(sed -n "s/^BRDA:$line,0,[01],//p" "$work/info" | sort -n | paste -sd ' ')"
if command -v genhtml >/dev/null; then
	check "genhtml reads the coverage, with branches" \
		genhtml -q --branch-coverage -o "$work/html" "$work/info"
fi

check "chrome profile is JSON" python3 -m json.tool "$work/chrome" /dev/null
is "chrome profile: calls of leaf" 1345 "$(grep -c '"ph":"X".*"name":"leaf"' "$work/chrome")"
cat >"$work/nest.py" <<-'END'
	import collections, json, sys
	threads = collections.defaultdict(list)
	for event in json.load(open(sys.argv[1])):
	    if event["ph"] == "X":
	        begin, length = round(1000 * event["ts"]), round(1000 * event["dur"])
	        assert length > 0, event
	        threads[event["pid"], event["tid"]].append((begin, -length, event["name"]))
	for slices in threads.values():
	    ends = []
	    for begin, length, name in sorted(slices):
	        while ends and ends[-1] <= begin:
	            ends.pop()
	        assert not ends or begin - length < ends[-1], (begin, name)
	        ends.append(begin - length)
END
check "chrome profile: slices nest, and each has a length" python3 "$work/nest.py" "$work/chrome"
is "chrome profile: a process with its name" \
	1 "$(grep '"process_name"' "$work/chrome" | grep -c '"name":"calls"')"
if command -v protoc-c >/dev/null; then
	proto=$TOP/tools/perf-plugin/profile
	view profile -f perfetto -o "$work/pftrace" 2>/dev/null
	check "perfetto profile is of its schema" sh -c "protoc-c --decode=perfetto.Trace \
		--proto_path='$proto' '$proto/perfetto.proto' <'$work/pftrace' >'$work/pftext'"
	# track ids of threads have 2 above their lower half
	is "perfetto profile: the slices of the chrome profile" \
		"$(grep -c '"ph":"X"' "$work/chrome")" \
		"$(awk '/type:/ { begins = /BEGIN/ } /track_uuid:/ && begins { n += int($2 / 2^32) == 2 }
			END { print n }' "$work/pftext")"
fi
view profile -f callgrind -o "$work/callgrind" 2>/dev/null
is "callgrind profile: calls of leaf by middle" 1000 "$(awk '/^fn=/ { inside = $0 == "fn=middle" }
	/^cfn=/ { leaf = $0 == "cfn=leaf" } /^calls=/ && inside && leaf { sub(/calls=/, ""); print $1 }' \
	"$work/callgrind")"
if command -v callgrind_annotate >/dev/null; then
	is "callgrind_annotate: the instructions add up" "$truth" "$(callgrind_annotate "$work/callgrind" |
		sed -n 's/^ *\([0-9,]*\) .*PROGRAM TOTALS.*/\1/p' | tr -d ,)"
fi
if command -v go >/dev/null && command -v protoc-c >/dev/null; then
	view profile -f pprof -o "$work/pprof" 2>/dev/null
	is "go tool pprof: the instructions add up" "$truth" \
		"$(go tool pprof -top "$work/pprof" 2>/dev/null | sed -n 's/.* of \([0-9]*\) total.*/\1/p')"
	check "go tool pprof: who called leaf" sh -c "go tool pprof -peek '^leaf\$' '$work/pprof' |
		grep -q 'middle$'"
fi
check "svg is XML" \
	python3 -c "import xml.dom.minidom, sys; xml.dom.minidom.parse(sys.argv[1])" "$work/svg"
is "stat: all that the emulator executed" "$truth" "$(awk '$1 == "all" { print $3 }' "$work/stat")"
# What stock perf finds in the recording: "PERF_RECORD_AUX offset: 0 size: 0x1234 flags: 0 []".
if command -v perf >/dev/null; then
	bytes=$(perf script -D --no-itrace -i "$dir/share/perf.data" 2>/dev/null |
		perl -ne '$sum += hex $1 if /PERF_RECORD_AUX offset.* size: (\S+)/; END { print $sum }')
	is "stat: bytes of trace, and bits per instruction" \
		"$bytes $(perl -e "printf '%.3f', 8 * $bytes / $truth")" \
		"$(awk '$1 == "all" { print $2, $4 }' "$work/stat")"
fi
is "stat: neither gaps nor losses" "0 0" "$(awk '$1 == "all" { print $6, $7 }' "$work/stat")"
check "list: names the encoders" grep -q '^encoder-1' "$dir/share/list"

# Stock perf, in the guest, read what inject wrote.
samples=$(grep -c 10000 "$dir/share/periods")
[ "$samples" -le $((truth / 10000)) ] && [ "$samples" -ge $((truth / 10000 - 2)) ]
ok $? "inject: one sample for 10000 instructions"
is "stock perf script sees each call of leaf" \
	1345 "$(grep -c 'calls.*branches.*leaf' "$dir/share/c")"
check "stock perf report names the functions" grep -q ' middle *$' "$dir/share/report"
check "stock perf report shows the call graph" grep -q -- '[0-9]%--' "$dir/share/graph"
check "stock perf script prints branch stacks" \
	grep -q '0x[0-9a-f]*/0x[0-9a-f]*/' "$dir/share/brstack"
# Nearly all: an interrupt in `middle` is a branch, too.
check "stock perf annotate shows the calls in middle" \
	grep -qE ' (9[0-9]|100)\.[0-9]+ .*(jal|call)' "$dir/share/annotate"
check "stock perf evlist names the event" grep -q instructions "$dir/share/evlist"

view report --comms nobody >"$work/nobody" 2>"$work/nobody.err"
is "report: of nobody, nothing" \
	"# 0 instructions executed, counted from the trace" "$(head -n 1 "$work/nobody")"
check "report: says that nothing passes the filter" \
	grep -q 'nothing that ran passes the filters' "$work/nobody.err"
is "report: quiet when something does" "" "$(grep 'passes the filters' "$work/report.err")"

# The same, whatever the order of decoding.
"$rv" script -i "$dir/share/perf.data" --symfs "$dir/share:$("$LAB" path guest)" \
	--itrace=i1i --by-cpu -F cpu,ip 2>/dev/null |
	grep -c . >"$work/lines"
is "script --itrace=i1i: a line for each instruction" "$truth" "$(cat "$work/lines")"

# Without letters as in perf script: calls (with traps) and errors.
view script --itrace -F flags,sym,addr >"$work/usual" 2>/dev/null
is "script --itrace: calls" 1345 "$(grep -c '^ *call .*=> .* leaf' "$work/usual")"
is "script --itrace: calls and traps only" \
	0 "$(grep -cvE '^ *(call|int|syscall|hw int|tr strt|tr end)' "$work/usual")"

# In a machine of its own: the truth above is what ran in one recording.
guest interrupted testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o perf.data -e rvtrace//u -- sh -c "while :; do :; done" 2> record.err &
	until [ -s perf.data ]; do sleep 0.1; done
	sleep 2
	kill -INT $!
	wait $!
	true'
ok $? "Ctrl-C: a recorder is interrupted"
check "Ctrl-C: the recorder says what it has" grep 'MB of trace' "$dir/share/record.err"
"$rv" report -i "$dir/share/perf.data" \
	--symfs "$("$LAB" path guest)" >"$dir/report" 2>"$dir/report.err"
ok $? "Ctrl-C: its file is whole"
[ "$(awk '/instructions executed/ { print $2 }' "$dir/report")" -gt 100000 ]
ok $? "Ctrl-C: and holds what ran until then"

done_testing
