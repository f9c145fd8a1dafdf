#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Files that are cut while they are read, are no files, lie outside of --symfs, or belong to others.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A recording that is much longer than a pipe and what a command keeps in memory.
mkdir "$dir/root"
build/host/rvt-recording "$dir/perf.data" /program 0 prog 60000
cp "$dir/perf.data.program" "$dir/root/program"

# cut NAME FILE LENGTH COMMAND...: FILE is cut when the command has written its first line, and waits
cut()
{
	local status

	cp "$2" "$dir/whole"
	"${@:4}" 2>"$dir/err" | { read -r _; truncate -s "$3" "$2"; cat >"$dir/out"; }
	status=${PIPESTATUS[0]}
	cp "$dir/whole" "$2"
	is "cut: $1: exit status" 1 "$status"
	grep -qF "$2 became shorter while it was read" "$dir/err"
	ok_or_show $? "cut: $1: which file" "$dir/err"
}

for jobs in 1 3; do
	cut "recording, $jobs jobs" "$dir/perf.data" 4096 \
		"$rv" script --raw-pc --jobs $jobs -i "$dir/perf.data" --symfs "$dir/root"
done
cut "recording, dump" "$dir/perf.data" 4096 "$rv" dump -f "$dir/perf.data"

# refused NAME TEXT COMMAND...: ends at once, with this text in an error
refused()
{
	local status

	timeout 10 "${@:3}" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status != 0 ] && [ $status -lt 124 ] && grep -qF "$2" "$dir/err"
	ok_or_show $? "$1" "$dir/err"
}

mkfifo "$dir/fifo"
for file in "$dir/fifo" /dev/null /dev/zero "$dir/root"; do
	refused "report: no file: ${file##*/}" "not a regular file" "$rv" report -i "$file"
	refused "dump: no file: ${file##*/}" "not a regular file" "$rv" dump "$file"
done

# What the recording says is mapped: a FIFO, a device, a file that is only there outside.
mkdir -p "$dir/root/sub" "$dir/root/run"
mkfifo "$dir/root/run/fifo"
ln -s "$dir/perf.data.program" "$dir/root/away"
ln -s /program "$dir/root/absolute"
# maps NAME: such a recording
maps()
{
	build/host/rvt-recording "$dir/named.data" "$1" 0 prog 3000
	timeout 20 "$rv" report -i "$dir/named.data" --symfs "$dir/root" >"$dir/out" 2>"$dir/err"
	status=$?
}

maps /program
is "in --symfs" 0 $status
grep -q "instructions executed" "$dir/out" && ! grep -q "^# 0 instructions" "$dir/out"
ok_or_show $? "in --symfs: decoded" "$dir/out"
maps /absolute
! grep -q "^# 0 instructions" "$dir/out"
ok_or_show $? "a link with a name that begins at the root is one inside" "$dir/err"
maps /run/fifo
[ $status -lt 124 ] && grep -q "/run/fifo: Invalid argument" "$dir/err"
ok_or_show $? "a FIFO in --symfs is not opened" "$dir/err"
cp "$dir/perf.data.program" "$dir/program2"
for name in /../program2 /sub/../../program2 /away; do
	maps $name
	grep -qE "$name: (outside of --symfs|No such file)" "$dir/err"
	ok_or_show $? "$name does not lead out of --symfs" "$dir/err"
	grep -q "^# 0 instructions" "$dir/out"
	ok_or_show $? "$name: nothing was decoded" "$dir/out"
done

# As root, another's recording only with --force.
if [ "$(id -u)" = 0 ]; then
	chown 65534 "$dir/perf.data"
	for command in "report -i" "script -i" "stat -i" dump; do
		# shellcheck disable=SC2086 # words
		refused "$command: another user's" "of the user with id 65534: give --force" \
			"$rv" $command "$dir/perf.data"
		# shellcheck disable=SC2086 # words
		"$rv" $command "$dir/perf.data" --force >"$dir/out" 2>"$dir/err"
		[ -s "$dir/out" ]
		ok_or_show $? "$command: with --force" "$dir/err"
	done
fi

# Memory: what is decoded until then is shown, or what is opened is too much.
refused "--max-memory of a process that has more" "ended at 1 MiB of memory" \
	"$rv" report -f -i "$dir/perf.data" --symfs "$dir/root" --max-memory 1M
printf 'protocol = ntrace\n' >"$dir/params"
head -c 3000000 /dev/urandom >"$dir/dump"
refused "dump --max-memory" "ended at 1 MiB of memory" \
	"$rv" dump --params "$dir/params" --max-memory 1M "$dir/dump"
refused "decode --max-memory" "ended at 1 MiB of memory" \
	"$rv" decode --params "$dir/params" --raw "$dir/dump@0x1000" --max-memory 1M "$dir/dump"
for command in dump decode; do
	refused "$command --max-memory 4g" "'4g' is no amount of memory" \
		"$rv" $command --params "$dir/params" --max-memory 4g "$dir/dump"
done
for size in 0 -1 4g x; do
	refused "--max-memory $size" "'$size' is no amount of memory" \
		"$rv" report -i "$dir/perf.data" --max-memory $size
done
done_testing
