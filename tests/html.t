#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# report --html in a browser: the page loads without an error, its numbers are those of --json, and
# search, zoom and keys do what they should.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
command -v python3 >/dev/null || skip_all "there is no python3"
rv=$TOP/build/host/perf-rvtrace
"$rv" report --json -i /nonexistent 2>&1 | grep -q json-c && skip_all "built without json-c"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=$'a</script><b>&"\\\033[2J\n\xff'
build/host/rvt-recording "$dir/perf.data" "$dir/program" 0x1000 "$bad" 6000
printf '.globl begin\nbegin: .incbin "%s"\n.size begin, . - begin\n.type begin, @function\n' \
	"$dir/perf.data.program" | riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" -
riscv64-linux-gnu-ld -Ttext=0x80001000 -e begin -o "$dir/program" "$dir/program.o"
cp "$dir/perf.data" "$dir/damaged"
printf '\125\252\023\167' | dd of="$dir/damaged" bs=1 seek=5000 conv=notrunc 2>/dev/null
build/host/rvt-recording "$dir/marks.data" "$dir/program" 0x1000 prog 6000 sifive

check "the page is made" "$rv" report -i "$dir/perf.data" --html "$dir/page.html"
check "with a recording to compare" \
	"$rv" report -i "$dir/perf.data" --html "$dir/both.html" --before "$dir/damaged"
check "of a damaged recording" "$rv" report -i "$dir/damaged" --html "$dir/damaged.html"
check "of one with marks" "$rv" report -i "$dir/marks.data" --html "$dir/marks.html"
is "nothing in it is of another place" 0 "$(grep -ocE 'https?://|src=|@import|fetch\(' "$dir/page.html")"
for options in -g "-s sym" --json; do
	# shellcheck disable=SC2086 # words
	! "$rv" report -i "$dir/perf.data" --html "$dir/no.html" $options 2>"$dir/err" &&
		grep -q -- "--html has all of that" "$dir/err"
	ok_or_show $? "--html $options" "$dir/err"
done
"$rv" report -i "$dir/perf.data" --html "$dir/none/page.html" 2>"$dir/err"
is "a page that cannot be written" 1 $?
"$rv" report -i "$dir/perf.data" --html /dev/full 2>"$dir/err"
is "a full disk" 1 $?

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
	ok 0 "the page in a browser # SKIP there is no chromium (package chromium)"
	done_testing
	exit
fi

# browse PAGE SCHEME COMMANDS...: what the commands say is in out, a line each
browse()
{
	timeout 120 tests/tools/browse "$browser" "$dir/$1.html" 1200 800 "$2" "${@:3}" >"$dir/out" 2>"$dir/err"
	ok_or_show $? "$1, $2: no error" "$dir/err"
}

"$rv" report --json -i "$dir/perf.data" >"$dir/json" 2>/dev/null
rows=$(python3 -c 'import json, sys
o = [json.loads(line) for line in open(sys.argv[1])]
print(o[0]["insns"])
print(json.dumps([[r[k] for k in ("comm", "dso", "sym", "insns", "branches", "entered")] for r in o[1:]]))' "$dir/json")
browse page light eval 'flame.state.root.total' \
	eval 'JSON.stringify(page.rows.map((r) => [r.comm, r.dso, r.sym, r.insns, r.branches, r.entered]))' \
	eval 'document.querySelector("#functions-table tbody td").textContent.replaceAll(",", "")' \
	eval 'page.code.reduce((sum, f) => sum + f.code.reduce((n, i) => n + i.count, 0), 0)' \
	eval 'document.querySelectorAll("b").length'
is "the flame graph has all instructions" "$(head -n 1 <<<"$rows")" "$(sed -n 1p "$dir/out")"
is "functions are those of --json" \
	"$(tail -n 1 <<<"$rows" | python3 -c 'import json, sys; print(json.load(sys.stdin))')" \
	"$(sed -n 2p "$dir/out" | python3 -c 'import json, sys; print(json.loads(json.load(sys.stdin)))')"
is "and so is the table that is seen" "\"$(sed -n 's/.*"insns":\([0-9]*\),"branches.*/\1/p' "$dir/json" | sort -rn | head -n 1)\"" \
	"$(sed -n 3p "$dir/out")"
is "the code's counts add up" "$(head -n 1 <<<"$rows")" "$(sed -n 4p "$dir/out")"
is "a name is text, whatever is in it" 0 "$(sed -n 5p "$dir/out")"

browse page dark type '#flame-search' begin \
	eval 'document.getElementById("flame-matched").textContent !== "" && !document.getElementById("flame-matched").textContent.endsWith(" 0.00%")' \
	type '#flame-search' nowhere eval 'document.getElementById("flame-matched").textContent' \
	key '#flame-canvas' ArrowDown key '#flame-canvas' Enter eval 'flame.state.zoomed.name !== "all"' \
	key '#flame-canvas' Escape eval 'flame.state.zoomed.name' \
	click '#flame-canvas' eval 'flame.state.selected !== null' click '#flame-reset' \
	eval 'flame.state.zoomed.name'
is "search finds, and does not find; Enter zooms, Escape goes back, a click zooms, reset shows all" \
	$'true\n"matched: 0.00%"\ntrue\n"all"\ntrue\n"all"' "$(cat "$dir/out")"

browse page light click '#tab-timeline' eval 'timeline.state.to === page.timeline.length' \
	key '#timeline-canvas' w eval 'timeline.state.to - timeline.state.from < page.timeline.length' \
	key '#timeline-canvas' 0 eval 'timeline.state.to === page.timeline.length' \
	type '#timeline-search' begin key '#timeline-search' Enter \
	eval 'document.getElementById("timeline-info").textContent.startsWith("begin")' \
	eval 'timeline.state.boxes.length > 0' key '#tab-timeline' ArrowRight \
	eval 'document.getElementById("functions").hidden' type '#functions-search' nowhere \
	eval 'document.querySelectorAll("#functions-table tbody tr").length'
is "timeline: all, w zooms, 0 shows all, find goes there; tabs take keys; tables filter" \
	$'true\ntrue\ntrue\ntrue\ntrue\nfalse\n0' "$(cat "$dir/out")"

browse both light eval '[...document.getElementById("flame-measure").options].some((o) => o.value === "difference")' \
	eval '(() => { const s = document.getElementById("flame-measure"); s.value = "difference"; s.dispatchEvent(new Event("change")); return flame.state.root.before > 0 && flame.state.root.before < flame.state.root.total; })()'
is "the difference to a recording with less" $'true\ntrue' "$(cat "$dir/out")"
browse damaged light eval 'document.getElementById("losses").classList.contains("lost")' \
	eval 'document.getElementById("losses").textContent.includes("NOT ALL of the flow is here")' \
	eval 'Array.from(numbers(page.timeline.turns.thread)).includes(-1)'
is "losses are said first, and drawn" $'true\ntrue\ntrue' "$(cat "$dir/out")"
browse marks light click '#tab-timeline' \
	eval 'page.timeline.marks.length > 10 && timeline.state.boxes.some((b) => b.text && b.text.includes("cafe"))'
is "marks are on the timeline" true "$(cat "$dir/out")"
done_testing
