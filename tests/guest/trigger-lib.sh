# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
# What trigger.t and long/trigger.t look for in recordings of tests/guest/workloads/trigger.c.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

symfs()
{
	echo "$dir/share:$("$LAB" path guest)"
}

says()
{
	grep -q -- "$2" "$dir/share/$1" || { cat "$dir/share/$1"; return 1; }
}

# user_behind FILE FUNCTION: instructions of the program in the flow behind the last time that
# FUNCTION was entered; a probe is on its first one, so that flow stops there.
user_behind()
{
	local address

	address=$("$LAB" in riscv64-linux-gnu-nm "$dir/share/trigger" | awk -v name="$2" '$3 == name { print substr($1, 14) }')
	# the program is at a page of its own: its addresses end as those in the file do
	raw_pc "$dir/share/$1" 2>/dev/null | awk -v end="$address" '
		/^# stop/ { if (substr($6, length($6) - 2) == end && length($6) < 13) { n = 0; found = 1 } next }
		!/^#/ && found && $3 == "U" { n++ }
		END { if (!found) exit 1; print n + 0 }'
}

# ends_with_call FILE FUNCTION MAX: behind the last call there are at most MAX instructions
ends_with_call()
{
	local n

	n=$(user_behind "$1" "$2") || { echo "no call of $2 in $1"; return 1; }
	echo "$n instructions of the program behind the call"
	[ "$n" -le "$3" ]
}

# ends_with FUNCTION FILE: the flow stops in it
ends_with()
{
	"$HOST/perf-rvtrace" script -i "$dir/share/$2" --symfs "$(symfs)" 2>/dev/null | grep ' tr end ' | tail -n 1 |
		tee "$dir/last" | grep -q " $1+0x" || { cat "$dir/last"; return 1; }
}

# marks FILE PATTERN: script shows the trigger
marks()
{
	"$HOST/perf-rvtrace" script -i "$dir/share/$1" --symfs "$(symfs)" 2>/dev/null | grep 'record-trigger:' >"$dir/marks"
	grep -q -- "$2" "$dir/marks" || { cat "$dir/marks"; return 1; }
}

page_has()
{
	"$HOST/perf-rvtrace" report -i "$dir/share/$1" --symfs "$(symfs)" --html "$dir/page.html" || return
	grep -q -F -- "$2" "$dir/page.html"
}

whole_call()
{
	"$HOST/perf-rvtrace" latency part --slowest 1 -i "$dir/share/long.data" --symfs "$(symfs)" --json >"$dir/calls" 2>/dev/null
	python3 -c 'import json, sys
calls = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert 6000 in [x.get("calls") for x in calls if x.get("sym") == "step"]' "$dir/calls"
}

latency_says()
{
	"$HOST/perf-rvtrace" latency part -i "$dir/share/long.data" --symfs "$(symfs)" |
		grep -q '^# record --trigger sym:part:over=300ms:every=0s at [0-9.]* s on cpu'
}

# Each snapshot has a call of its own, and ends with it: calls before tracing has gone on make none.
each_file()
{
	local file count=0

	for file in "$dir"/share/loop.data.*; do
		ends_with_call "${file##*/}" seldom 0 || return
		count=$((count + 1))
	done
	[ $count -ge 1 ]
}

# Each of the 40 calls has made a file, or was counted, and for a reason.
all_calls()
{
	local files more early

	files=$(find "$dir/share" -name 'loop.data.*' | wc -l)
	more=$(sed -n 's/.*seldom:every=20ms: \([0-9]*\) more times .*/\1/p' "$dir/share/loop.err")
	early=$(sed -n 's/.*seldom:every=20ms: \([0-9]*\) of them came before .*/\1/p' "$dir/share/loop.err")
	echo "$files files, $more more, ${early:-0} of these before tracing had gone on"
	[ $((files + more)) -eq 40 ] && [ "${early:-0}" -le "${more:-0}" ]
}
