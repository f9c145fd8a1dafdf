#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf with the series in upstream/perf, where it is built: a script that forks and executes, AUX
# samples, another version of a program. All else is in long/native-perf.t.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/native-lib.sh"

native_built || skip_all "$native_missing"
native_guest_programs
guest main testing '' "
	$native_in_guest
	record script -e rvtrace//u -- sh -c 'sort input | head -n 3; (cd / && ls -d bin)' || exit 2
	record piped -e rvtrace//u -- sort input || exit 3
	record sampled --aux-sample=16384 -e '{rvtrace//u,cpu-clock/freq=500/u}' -- sort input || exit 4
	perf-rvtrace record --auxtrace-info -o ours.data -e rvtrace//u -- sort input > ours.out 2> ours.log || exit 5"
ok $? "perf records" || { done_testing; exit; }
# shellcheck disable=SC2046 # these are words
check "what was decoded is what was executed" native_equals_truth script --min 100000 $(native_threads script)
check "perf rvtrace decodes the same" native_same script
# Without --itrace it only copies, and what comes through a pipe has no list of build ids.
script=("$native/bin/perf" script --symfs "$("$LAB" path guest)" --itrace=i1i -F cpu,tid,ip)
"$native/bin/perf" inject -i "$dir/share/piped.data" -o - 2>/dev/null | "${script[@]}" -i - 2>/dev/null | sort >"$dir/piped"
"${script[@]}" -i "$dir/share/piped.data" 2>/dev/null | sort >"$dir/not-piped"
[ "$(wc -l <"$dir/piped")" -gt 100000 ]
ok $? "a recording comes through a pipe"
check "and is the same" cmp "$dir/piped" "$dir/not-piped"
check "AUX samples: what was decoded is what was executed" native_equals_truth sampled --lossy --min 300000
for recording in script sampled; do
	[ "$(native_perf report -D -i "$dir/share/$recording.data" 2>/dev/null | grep -ac '  ProgTraceSync SYNC=')" -gt 0 ]
	ok $? "report -D prints messages: $recording"
done

# It has no build id of the vdso, without which perf does not take it for the one that ran.
ours_equals_truth()
{
	"$native/bin/perf" script --symfs "$guest_root" -i "$dir/share/ours.data" --itrace=i1ie -F cpu,tid,ip |
		native_lines | "$HOST/rvt-truth-diff" --lossy --min 1000000 "$dir/truth"
}
guest_root=$("$LAB" path guest)
check "perf decodes a recording of perf rvtrace" ours_equals_truth

# With a stand-in for Qt
calls_in_database()
{
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/upstream "$native/bin/perf" script --symfs "$guest_root" \
		-i "$dir/share/piped.data" --itrace=bcr \
		-s "$native/libexec/perf-core/scripts/python/export-to-sqlite.py" "$dir/calls.db" branches calls &&
		python3 - "$dir/calls.db" <<-'END'
			import sqlite3, sys
			db = sqlite3.connect(sys.argv[1])
			# A call that has returned is a sample of a call and one of a return.
			rows = db.execute("""select b.name from calls join samples s on s.id = calls.call_id
				join branch_types b on b.id = s.branch_type where calls.return_id""").fetchall()
			calls = sum(name == "call" for name, in rows)
			print(len(rows), "calls returned, of which", calls, "by an instruction")
			sys.exit(calls < 10000 or calls < 0.9 * len(rows))
		END
}
check "export-to-sqlite.py has the calls" calls_in_database

# The program's file is another one than was executed: both ids are named, and it is not decoded with it.
sort_build_id()
{
	"$native/bin/perf" buildid-list -i "$1" | awk '$2 ~ "/sort$" { print $1 }'
}
mkdir -p "$dir/other/usr/bin"
ln -s "$guest_root/usr/lib" "$dir/other/usr/lib"
cp "$guest_root/usr/bin/ls" "$dir/other/usr/bin/sort"
"$native/bin/perf" script --symfs "$dir/other" -i "$dir/share/piped.data" --itrace=i1i -F ip,dso >"$dir/other.list" 2>"$dir/other.err"
ran=$(sort_build_id "$dir/share/piped.data")
is "another version of a program: both build ids are named" 1 \
	"$(grep -c "sort has build id [0-9a-f]*, the file that was executed $ran" "$dir/other.err")"
is "and it is not decoded with it" 0 "$(grep -c /sort "$dir/other.list")"
[ "$(grep -c libc.so "$dir/other.list")" -gt 10000 ]
ok $? "the rest is decoded"
done_testing
