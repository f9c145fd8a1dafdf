#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Names of processes, files and symbols with control characters: none gets to a terminal, and none
# forges a line, a frame or a field, in any view.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

bad=$'\033]0;t\a\n 99.99% x\r\177\x9b1m'
comm=$'c\033[2J\nforged'
file=$dir/f$bad
symbol=$'s;"<&\033[31m\nforged 7'
# the file's name is part of the path that the recording has; the symbol is of the file
mkdir -p "$dir/names"
build/host/rvt-recording "$dir/perf.data" "$file" 0x1000 "$comm" 30000
printf '.globl begin\nbegin: .incbin "%s"\n.size begin, . - begin\n.type begin, @function\n' \
	"$dir/perf.data.program" | riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" -
riscv64-linux-gnu-objcopy --redefine-sym begin="$symbol" "$dir/program.o" "$dir/renamed.o"
riscv64-linux-gnu-ld -Ttext=0x80001000 -e 0x80001000 -o "$file" "$dir/renamed.o"

# clean NAME: neither a control character nor what is no UTF-8 in $dir/out and $dir/err
clean()
{
	cat "$dir/out" "$dir/err" >"$dir/both"
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$dir/both" && iconv -f UTF-8 "$dir/both" >/dev/null 2>&1 &&
		! grep -qE '^(forged| 99\.99%)' "$dir/both"
	ok_or_show $? "$1: no control characters, no forged lines" "$dir/both"
}

# shows NAME TEXT
shows()
{
	grep -qF -- "$2" "$dir/out"
	ok_or_show $? "$1" <(head -n 20 "$dir/out")
}

seen_comm='c\033[2J\nforged'
seen_symbol='s;"<&\033[31m\nforged 7'
seen_file='f\033]0;t\a\n 99.99% x\r\177\2331m'
for view in report "report -s comm,dso,sym,srcline" "report -g" "report -g callee" script \
	"script --jobs 1" "script --call-trace" "script -F +brstacksym,srcline"; do
	# shellcheck disable=SC2086 # words
	"$rv" $view -i "$dir/perf.data" --max-lines 5000 >"$dir/out" 2>"$dir/err"
	is "$view" 0 $?
	clean "$view"
	shows "$view: name of the process" "$seen_comm"
	shows "$view: name of the function" "$seen_symbol"
done
for view in latency annotate; do
	"$rv" $view -i "$dir/perf.data" >"$dir/out" 2>"$dir/err"
	is "$view" 0 $?
	clean "$view"
	shows "$view: name of the function" "$seen_symbol"
	shows "$view: name of the file" "$seen_file"
done
"$rv" report -i "$dir/perf.data" >"$dir/out" 2>"$dir/err"
shows "report: name of the file" "$seen_file"
is "report: a row is a line" 1 "$(grep -vc '^#' "$dir/out")"

for format in folded svg counts; do
	"$rv" profile -f $format -i "$dir/perf.data" >"$dir/out" 2>"$dir/err"
	is "profile -f $format" 0 $?
	clean "$format"
done
shows "counts: name of the file" "file $dir/$seen_file"
is "counts: each line is one" 0 "$(sed 1d "$dir/out" | grep -cvE '^(file|path|bases|ran|[FB]) ')"
"$rv" profile -f folded -i "$dir/perf.data" >"$dir/out"
is "folded: each line ends in a number" 0 "$(grep -cvE ' [0-9]+$' "$dir/out")"
shows "folded: a semicolon in a name begins no frame" "$seen_comm;${seen_symbol/;/:}"
if command -v python3 >/dev/null; then
	"$rv" profile -f svg -i "$dir/perf.data" >"$dir/out"
	python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' "$dir/out" 2>"$dir/err"
	ok_or_show $? "svg: is XML" "$dir/err"
	# what --merge reads may have such names as well
	printf 'p;\033[31m<f> 3\np;gr\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc 500\n' >"$dir/folded"
	"$rv" profile -f svg --merge "$dir/folded" >"$dir/out" 2>"$dir/err"
	clean "svg of merged stacks"
	python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' "$dir/out" 2>"$dir/err"
	ok_or_show $? "svg of merged stacks: is XML" "$dir/err"
fi
if "$rv" profile -f chrome -i "$dir/perf.data" >"$dir/out" 2>"$dir/err"; then
	clean chrome
	shows "chrome: name of the process" "${seen_comm//\\/\\\\}"
fi

# Files that are not there are named in messages.
rm "$file"
"$rv" report -i "$dir/perf.data" >"$dir/out" 2>"$dir/err"
clean "a missing file"
grep -qF "$seen_file: No such file" "$dir/err"
ok_or_show $? "a missing file is named" "$dir/err"
"$rv" report -i $'no\033[31m\nforged' >"$dir/out" 2>"$dir/err"
clean "a recording that is not there"

done_testing
