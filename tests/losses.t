#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What is lost stands in front of the result, and --strict makes an error of it.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
build/host/rvt-recording "$dir/perf.data" "$dir/perf.data.program" 0 prog 30000

# run NAME EXPECTED_STATUS COMMAND...: output and messages are in out and err
run()
{
	"$rv" "${@:3}" >"$dir/out" 2>"$dir/err"
	is "$1: status" "$2" $?
}

# has NAME FILE TEXT: one of the first lines of the file has the text
has()
{
	head -n 6 "$dir/$2" | grep -qE -- "$3"
	ok_or_show $? "$1" "$dir/$2"
}

whole="nothing is lost"
for view in report "report -g" stat latency annotate; do
	# shellcheck disable=SC2086 # words
	run "$view of a whole recording" 0 $view -i "$dir/perf.data" --strict
	has "$view: says so in front" out "^# all of the trace was decoded, $whole"
	is "$view: and no more" "" "$(cat "$dir/err")"
done
for view in script "profile -f folded" "script --raw-pc" "script --insn-trace=raw"; do
	# shellcheck disable=SC2086 # words
	run "$view of a whole recording" 0 $view -i "$dir/perf.data" --strict
	is "$view: quiet" "" "$(cat "$dir/err")"
done
executed=$("$rv" script --raw-pc -i "$dir/perf.data" | grep -vc '^#')
run "report" 0 report -i "$dir/perf.data"
has "report: instructions are those of script" out "^# $executed instructions executed"

# Two places where bytes of the trace are others: a reserved MSEO value.
cp "$dir/perf.data" "$dir/damaged"
for place in 5000 30000; do
	printf '\125\252\023\167' | dd of="$dir/damaged" bs=1 seek=$place conv=notrunc 2>/dev/null
done
gaps=$("$rv" script --raw-pc -i "$dir/damaged" 2>/dev/null | grep -c '^# lost')
decoded=$("$rv" script --raw-pc -i "$dir/damaged" 2>/dev/null | grep -vc '^#')
lost="NOT ALL of the flow is here: $decoded instructions decoded, $gaps gaps$"
for view in report "report -g" "report -g callee" stat latency annotate; do
	# shellcheck disable=SC2086 # words
	run "$view of a damaged one" 0 $view -i "$dir/damaged"
	has "$view: what is lost" out "^# $lost"
	has "$view: the share" out "^#   [0-9]+ of [0-9]+ bytes of trace \(0\.0[0-9]+%\) are damaged"
	# shellcheck disable=SC2086 # words
	run "$view --strict" 1 $view -i "$dir/damaged" --strict
	grep -q -- "--strict: some of the recorded flow is lost" "$dir/err"
	ok_or_show $? "$view --strict: says why" "$dir/err"
done
for view in script "script --jobs 1" "script --raw-pc" "script --insn-trace=raw" "script --call-trace" \
	"profile -f folded" "profile -f counts" "inject -o $dir/injected"; do
	# shellcheck disable=SC2086 # words
	run "$view of a damaged one" 0 $view -i "$dir/damaged"
	has "$view: what is lost" err "^$lost"
	# shellcheck disable=SC2086 # words
	run "$view --strict" 1 $view -i "$dir/damaged" --strict
done

# A file that is cut: what is there counts.
head -c 45000 "$dir/perf.data" >"$dir/cut"
run "stat of a cut file" 1 stat -i "$dir/cut"
rows=$(awk '$1 ~ /^[0-9]+$/ { sum += $2 } $1 == "all" { print sum == $2, $2 }' "$dir/out")
missing=$(sed -n 's/^  \([0-9]*\) bytes of trace are not in the file/\1/p' "$dir/err")
"$rv" stat -i "$dir/perf.data" >"$dir/out"
is "stat: bytes of the cut file and those that are missing" \
	"1 $(($(awk '$1 == "all" { print $2 }' "$dir/out") - missing))" "$rows"

# Without the code next to nothing is decoded, which is an error by itself.
mv "$dir/perf.data.program" "$dir/elsewhere"
for view in report stat script "profile -f folded"; do
	# shellcheck disable=SC2086 # words
	run "$view without the program" 1 $view -i "$dir/perf.data"
	grep -q "next to nothing was decoded: 0 instructions" "$dir/err"
	ok_or_show $? "$view: says so" "$dir/err"
done
run "stat without the program" 1 stat -i "$dir/perf.data"
has "stat: the share" out "^#   [0-9]+ of [0-9]+ messages \(9[0-9.]*%\) could not be followed: code is missing, 1 files"
run "a script that stops early knows nothing of the rest" 0 script -i "$dir/perf.data" --max-lines 1

done_testing
