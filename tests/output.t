#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What cannot be written is an error, for every command and view; a reader that has gone is none; and
# how output files are made.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
full="No space left on device"

# The program of the recording as an ELF file, so that it has names and can be profiled.
build/host/rvt-recording "$dir/perf.data" "$dir/program" 0x1000 prog 30000
printf '.globl begin\nbegin: .incbin "%s"\n.size begin, . - begin\n.type begin, @function\n' \
	"$dir/perf.data.program" | riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" -
riscv64-linux-gnu-ld -Ttext=0x80001000 -e begin -o "$dir/program" "$dir/program.o"
head -c 4096 "$dir/perf.data.program" | cmp -n 4096 - "$dir/program" -i 0:4096
ok $? "the recording's program"

# full NAME COMMAND...: standard output is a full disk
full()
{
	local status

	"${@:2}" >/dev/full 2>"$dir/err"
	status=$?
	[ $status = 1 ] && grep -qE "cannot write to standard output(: $full)?$" "$dir/err"
	ok_or_show $? "full disk: $1" "$dir/err"
}

views=(stat report annotate latency "latency begin --slowest 1" "report -s srcline" "report -g" "report -g callee" script "script --jobs 1"
	"script --insn-trace=raw" "script --insn-trace=raw --jobs 1" "script --raw-pc"
	"script --call-trace" "script --call-ret-trace" "script --itrace=i1ig"
	"profile -f llvm --dso program" "profile -f bolt --dso program"
	"profile -f autofdo --dso program" "profile -f counts" "profile -f folded" "profile -f svg"
	"profile -f callgrind")
pkg-config --exists json-c && views+=("profile -f chrome")
pkg-config --exists libprotobuf-c && views+=("profile -f perfetto" "profile -f pprof")
for view in "${views[@]}"; do
	# shellcheck disable=SC2086 # words
	full "$view" "$rv" $view -i "$dir/perf.data"
	# shellcheck disable=SC2086 # words
	"$rv" $view -i "$dir/perf.data" >"$dir/out" 2>"$dir/err"
	is "$view: otherwise all is well" 0 $?
	[ -s "$dir/out" ]
	ok $? "$view: and there is output"
done
full dump "$rv" dump "$dir/perf.data"
full "dump --json" "$rv" dump --json "$dir/perf.data"
full "--help" "$rv" --help
for command in record script report annotate latency gdb diff export archive inject profile fleet stat index list doctor decode dump tandem; do
	full "$command --help" "$rv" $command --help
done
mkdir -p "$dir/sys/bus/event_source/devices/rvtrace"
echo 12 >"$dir/sys/bus/event_source/devices/rvtrace/type"
full list "$rv" list --sysfs "$dir/sys"

# Of files as well, and the file does not stay.
formats=("llvm --dso program" "bolt --dso program" "autofdo --dso program" counts folded svg callgrind)
pkg-config --exists json-c && formats+=(chrome)
pkg-config --exists libprotobuf-c && formats+=(perfetto pprof)
for format in "${formats[@]}"; do
	# shellcheck disable=SC2086 # words
	"$rv" profile -f $format -i "$dir/perf.data" -o /dev/full 2>"$dir/err"
	is "full file: profile -f $format" 1 $?
	grep -qF "cannot write /dev/full: $full" "$dir/err"
	ok_or_show $? "it says so" "$dir/err"
done

# A reader that has seen enough ends the command, quietly and soon. Stock perf takes an end by a
# signal for a program that could not be run; 141 is what shells make of the signal.
for view in "script --insn-trace=raw" "script --raw-pc" "script --jobs 1" "script --jobs 3"; do
	# shellcheck disable=SC2086 # words
	{ "$rv" $view -i "$dir/perf.data" 2>"$dir/err"; echo $? >"$dir/status"; } | head -n 1 >/dev/null
	is "$view | head: status" 141 "$(cat "$dir/status")"
	is "$view | head: quiet" "" "$(cat "$dir/err")"
done
(trap '' PIPE; "$rv" script -i "$dir/perf.data" 2>"$dir/err"; echo $? >"$dir/status") | head -n 1 >/dev/null
is "with SIGPIPE ignored: quiet, too" "" "$(cat "$dir/err")"

# Files: the one before is kept, and links are not followed.
file=$dir/made
made()
{
	"$rv" profile -f folded -i "$dir/perf.data" -o "$file" 2>"$dir/err"
}
made
is "a new file" 0 $?
is "it is for its owner only" 600 "$(stat -c %a "$file")"
sum=$(cksum <"$file")
echo old >"$file"
made
is "the new one has the name" "$sum" "$(cksum <"$file")"
is "the old one is kept" old "$(cat "$file.old")"
echo victim >"$dir/victim"
ln -sf victim "$file"
made
is "a link is not followed" victim "$(cat "$dir/victim")"
[ -L "$file.old" ] && [ ! -L "$file" ]
ok $? "it is kept as a link"
rm -f "$file" "$file.old"
mkdir "$file"
made
is "a directory is refused" 1 $?
grep -qF "$file is a directory" "$dir/err"
ok_or_show $? "it says so" "$dir/err"
rmdir "$file"
mkfifo "$file"
cat "$file" >"$dir/out" &
made
wait
is "a FIFO is written to" "$sum" "$(cksum <"$dir/out")"
rm "$file"
"$rv" profile -f folded -i "$dir/perf.data" -o /dev/stdout >"$dir/out"
is "/dev/stdout" "$sum" "$(cksum <"$dir/out")"
echo old >"$file"
"$rv" profile -f llvm --dso nobody -i "$dir/perf.data" -o "$file" 2>"$dir/err"
is "nothing to write: an error" 1 $?
is "and the file before has its name again" old "$(cat "$file")"

# The same of recordings.
echo old >"$dir/injected"
"$rv" inject -i "$dir/perf.data" -o "$dir/injected" 2>"$dir/err"
is "inject" 0 $?
is "inject: the old file is kept" old "$(cat "$dir/injected.old")"
is "inject: for its owner only" 600 "$(stat -c %a "$dir/injected")"
head -c 12000 "$dir/perf.data" >"$dir/cut"
(ulimit -f 8; trap '' XFSZ; "$rv" inject --itrace=b -i "$dir/perf.data" -o "$dir/injected" 2>"$dir/err")
is "inject: a file that may not grow" 1 $?
grep -qF "cannot write $dir/injected: File too large" "$dir/err"
ok_or_show $? "inject: it says so" "$dir/err"
"$rv" stat -i "$dir/injected" 2>&1 | grep -q "no trace"
[ -s "$dir/injected" ] && [ ! -e "$dir/injected.old" ]
ok $? "inject: the file before has its name again"

# Root does not read what others have laid out, unless it is told to.
if [ "$(id -u)" = 0 ]; then
	cp "$dir/perf.data" "$dir/others"
	chown 12345 "$dir/others"
	for view in report annotate latency script stat "profile -f folded" "inject -o $dir/of-others"; do
		# shellcheck disable=SC2086 # words
		"$rv" $view -i "$dir/others" >/dev/null 2>"$dir/err"
		is "root: $view of another's recording" 1 $?
		grep -q "is not root's but of the user with id 12345: give --force" "$dir/err"
		ok_or_show $? "it says so" "$dir/err"
		# shellcheck disable=SC2086 # words
		"$rv" $view -i "$dir/others" --force >/dev/null 2>"$dir/err"
		is "root: $view --force" 0 $?
	done
fi

done_testing
