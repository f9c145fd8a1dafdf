#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# export --sqlite: the database has what latency and script say of the same recording, and the
# manual's queries run.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
python3 -c 'import sqlite3' 2>/dev/null || skip_all "there is no python3 with sqlite3"
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
build/host/rvt-recording "$dir/perf.data" "$dir/program" 0x1000 $'a\'"\033[2J\n\xff' 6000
"$rv" export --sqlite "$dir/db" -i "$dir/perf.data" 2>&1 | grep -q 'install libsqlite3-dev' &&
	skip_all "built without SQLite"
rm -f "$dir/db"
printf '.globl begin\nbegin: .incbin "%s"\n.size begin, . - begin\n.type begin, @function\n' \
	"$dir/perf.data.program" | riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" -
riscv64-linux-gnu-ld -Ttext=0x80001000 -e begin -o "$dir/program" "$dir/program.o"
cp "$dir/perf.data" "$dir/damaged"
printf '\125\252\023\167' | dd of="$dir/damaged" bs=1 seek=5000 conv=notrunc 2>/dev/null

# sql DATABASE QUERY: rows, columns with | between
sql()
{
	python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print(*row, sep="|")' "$dir/$1" "$2"
}

check "a database" "$rv" export --sqlite "$dir/db" -i "$dir/perf.data" --branches
"$rv" export --sqlite "$dir/db" -i "$dir/perf.data" 2>"$dir/err"
is "it is not written over" 1 $?
check "that is said" grep -q 'is there already; give another name' "$dir/err"
"$rv" export --sqlite "$dir/none/db" -i "$dir/perf.data" 2>"$dir/err"
is "a folder that is not there" 1 $?
"$rv" export --sqlite "$dir/bad" -i "$dir/program" 2>"$dir/err"
[ ! -e "$dir/bad" ]
ok $? "no database of what is no recording"

"$rv" latency --json -i "$dir/perf.data" | python3 -c 'import json, sys
for line in sys.stdin:
    x = json.loads(line)
    if x["type"] == "latency":
        print(x["sym"], x["calls"], x["partial"], x.get("insns", {}).get("sum", 0), sep="|")' | sort >"$dir/latency"
sql db "SELECT name, sum(flags <> 3), sum(flags = 3), sum((flags <> 3) * insn_count) FROM calls
	JOIN call_paths ON call_paths.id = call_path_id JOIN symbols ON symbols.id = symbol_id
	WHERE calls.id > 0 GROUP BY name" | sort >"$dir/calls"
cmp "$dir/latency" "$dir/calls" && [ -s "$dir/calls" ]
ok $? "calls and their instructions are those of latency"
is "branches are those of script" "$("$rv" script -i "$dir/perf.data" | awk '$6 !~ /^tr$/' | grep -cv ' tr \(strt\|end\)')" \
	"$(sql db 'SELECT count(*) FROM samples')"
is "a call is in one that called it, and not longer" 0 "$(sql db 'SELECT count(*) FROM calls JOIN calls AS parent
	ON parent.id = calls.parent_id WHERE parent.id > 0 AND
	(calls.call_time < parent.call_time OR calls.return_time > parent.return_time OR
	calls.insn_count > parent.insn_count OR calls.parent_call_path_id <> parent.call_path_id)')"
is "the thread, with its name" "10|10|a'\"\\033[2J\\n\\377" \
	"$(sql db 'SELECT pid, tid, command FROM comm_threads_view WHERE tid = 10')"
is "nothing is lost" "0|0" "$(sql db 'SELECT lost, gaps FROM losses')"
check "a damaged recording" "$rv" export --sqlite "$dir/lossy" -i "$dir/damaged"
is "its losses" "1|1" "$(sql lossy 'SELECT lost, gaps FROM losses')"
# perf's own viewer, which Debian has with perf; in the lab's guest, too
script=usr/lib/perf-core/scripts/python/exported-sql-viewer.py
viewed=4
for viewer in "$(tools/lab/lab path guest 2>/dev/null)/$script" "/$script"; do
	if [ -e "$viewer" ]; then
		tests/tools/view-sql "$viewer" "$dir/db" >"$dir/viewed" 2>"$dir/view-errors"
		viewed=$?
		break
	fi
done
# All windows open without an error.
opens()
{
	grep -B 20 -A 5 'Error\|Exception' "$dir/view-errors" && return 1
	cat "$dir/viewed"
	[ $viewed -eq 0 ] && grep -q '^menus: .*Reports, Charts, Tables' "$dir/viewed" && grep -q '^ *Branch Events: [1-9]' "$dir/viewed"
}
if [ $viewed -eq 4 ]; then
	skip "perf's exported-sql-viewer opens it" "there is no exported-sql-viewer.py (linux-perf) or no python3-pyside2.qtsql, python3-pyside2.qtwidgets"
	skip "and shows all calls" "the same"
else
	check "perf's exported-sql-viewer opens it" opens
	is "and shows all calls" "calls Table: $(sql db 'SELECT count(*) FROM calls')" "$(grep '^calls Table' "$dir/viewed")"
fi
# The queries stand between .Bd -literal -offset and .Ed.
awk '/^\.Bd -literal -offset/ { on = 1; next } /^\.Ed/ && on { on = 0; printf "%c", 0 } on' \
	Documentation/man/perf-rvtrace-export.1 >"$dir/queries"
n=0
while IFS= read -r -d '' query; do
	n=$((n + 1))
	check "the manual's query $n" sql db "$query"
done <"$dir/queries"
is "there are five" 5 $n
done_testing
