#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The recorder among stock tools, and what it says when something is wrong.
. "$(dirname "$0")/lib.sh"

# says FILE TEXT: the message holds this (basic regular expression).
says()
{
	grep -i -- "$2" "$1" && return
	echo "no line with '$2' in:"
	cat "$1"
	return 1
}

# fails COMMAND...: exits with an error of its own (no signal), message in $dir/message.
fails()
{
	"$@" >"$dir/message" 2>&1
	local status=$?
	[ $status -gt 0 ] && [ $status -lt 126 ] && return
	echo "exit status $status"
	cat "$dir/message"
	return 1
}

guest main testing '' '
	perf-rvtrace record -o none.data -- true > no-module 2>&1 && exit 1
	cp rvtrace.ko /tmp && insmod rvtrace.ko || exit 2
	# found by stock perf, with its exit status passed on
	perf rvtrace record -o perf.data -e rvtrace//u -- sh -c "ls /etc | sort -r | head -n 3; exit 7"
	[ $? -eq 7 ] || exit 3
	for tool in "report --no-itrace --stdio" "script --no-itrace --show-task-events" evlist "buildid-list"; do
		perf ${tool%% *} -i perf.data $(case $tool in *\ *) echo ${tool#* };; esac) > "stock-${tool%% *}" \
			2> "stock-${tool%% *}.err" || exit 4
	done
	# compressed: ours to read, and for stock perf trace like any other that it skips
	perf-rvtrace record -z -o packed.data -e rvtrace//u -- sort /etc/services > /dev/null || exit 12
	perf report --no-itrace --stdio -i packed.data > /dev/null 2> stock-packed.err || exit 13
	perf script --no-itrace --show-task-events -i packed.data > stock-packed 2>> stock-packed.err || exit 14
	# attach to a running process; Ctrl-C ends the recording
	sh -c "while :; do :; done" & victim=$!
	perf-rvtrace record -o attach.data -e rvtrace//u -p $victim & recorder=$!
	until [ -s attach.data ]; do sleep 0.1; done
	sleep 1; kill -INT $recorder; wait $recorder || exit 5
	kill $victim
	# one CPU
	perf-rvtrace record -o cpu.data -C 1 -- sleep 0.2 || exit 6
	# per-thread buffers
	perf-rvtrace record --per-thread -o thread.data -e rvtrace//u -- ls / || exit 7
	# what an ordinary user may do
	echo 3 > /proc/sys/kernel/perf_event_paranoid
	mkdir -m 777 /tmp/user; cd /tmp/user
	setpriv --reuid 1000 --regid 1000 --clear-groups perf-rvtrace record -- ls > /mnt/share/paranoid-3 2>&1 && exit 8
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	setpriv --reuid 1000 --regid 1000 --clear-groups perf-rvtrace record -a -- ls > /mnt/share/paranoid-2 2>&1 && exit 9
	setpriv --reuid 1000 --regid 1000 --clear-groups perf-rvtrace record -o user.data -- ls > /mnt/share/user 2>&1 || exit 10
	# without any other right to lock memory: the larger buffers on both cpus, and for many threads
	# those that fit
	for n in 1 2 3; do setpriv --reuid 1000 --regid 1000 --clear-groups sleep 1000 & sleepers=$sleepers,$!; done
	for sizes in "cpus -p" "threads --per-thread -p"; do
		setpriv --reuid 1000 --regid 1000 --clear-groups sh -c "ulimit -l 0; exec perf-rvtrace record -o maps.data \
			-e rvtrace//u ${sizes#* } ${sleepers#,}" 2> /mnt/share/maps & recorder=$!
		until [ "$(grep -c perf_event /proc/$recorder/maps)" -ge 4 ]; do sleep 0.1; [ -d /proc/$recorder ] || exit 15; done
		sleep 1; grep perf_event /proc/$recorder/maps > /mnt/share/${sizes%% *}.maps
		kill -INT $recorder; wait $recorder || exit 16
	done
	kill $(echo $sleepers | tr , " ")
	cp user.data /mnt/share; cd /mnt/share
	# a recorder that is killed leaves no encoder running: the module can go, the model sees it
	# off
	perf-rvtrace record -a -o killed.data -- sleep 100 & recorder=$!
	until [ -s killed.data ]; do sleep 0.1; done
	sleep 1; kill -KILL $recorder; wait $recorder 2>/dev/null
	sleep 1; rmmod rvtrace || exit 11
	# onto a file system that writes the pages of the rings directly
	pkill -x sleep; cd / && umount /mnt/share && insmod /tmp/rvtrace.ko || exit 17
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=none share /mnt/share && cd /mnt/share || exit 18
	perf-rvtrace record -o direct.data -e rvtrace//u -- sort /etc/services > /dev/null || exit 19
	rmmod rvtrace'
ok $? "recording in all the usual ways"
check "module not loaded: says so" says "$dir/share/no-module" 'modprobe\|insmod\|module'
check "perf_event_paranoid 3: says which setting" says "$dir/share/paranoid-3" 'perf_event_paranoid'
check "perf_event_paranoid 2, -a: says which setting" \
	says "$dir/share/paranoid-2" 'perf_event_paranoid'
# sizes FILE: those of the mappings that are for trace, in KiB.
sizes()
{
	awk '{ split($1, ends, "-"); n = number(ends[2]) - number(ends[1]); if (n % 8192 == 0) print n / 1024 }
		function number(text,    i, n) {
			for (i = 1; i <= length(text); i++)
				n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
			return n
		}' "$dir/share/$1.maps" | paste -sd ' '
}
is "an ordinary user: 256 KiB for the trace of each cpu" "256 256" "$(sizes cpus)"
is "an ordinary user: 128 KiB for the trace of each of many threads" "128 128 128" "$(sizes threads)"
check "stock perf script sees the programs" \
	says "$dir/share/stock-script" 'PERF_RECORD_COMM exec: sort'
check "stock perf evlist sees the event" says "$dir/share/stock-evlist" 'rvtrace'
check "stock perf buildid-list sees the C library" says "$dir/share/stock-buildid-list" 'libc.so.6'
check "stock perf reads a compressed recording" \
	says "$dir/share/stock-packed" 'PERF_RECORD_COMM exec: sort'
for file in perf packed attach cpu thread user direct; do
	check "$file.data decodes without a gap" \
		sh -c "'$HOST/perf-rvtrace' script -i '$dir/share/$file.data' \
		--symfs '$dir/share:$("$LAB" path guest)' --raw-pc | awk '/^# lost/ { bad = 1; print } !/^#/ { n++ }
		END { exit bad || n < 1000 }'"
done
check "the model saw every encoder switched off" sh -c "for hart in 0 1; do
	'$HOST/rvt-truth' '$dir/truth/truth.'\$hart | awk '/^on/ { on = 1 } /^off/ { on = 0 } END { exit on }' || exit 1; done"
check "no rule of the control interface was broken" no_violations

rv=$HOST/perf-rvtrace
head -c 100000 "$dir/share/perf.data" >"$dir/cut.data"
check "truncated perf.data: an error, with what could be read" fails "$rv" script -i "$dir/cut.data"
check "truncated perf.data: says so" says "$dir/message" 'truncated\|cut\|ends'
check "not a perf.data: an error" fails "$rv" script -i "$0"
check "not a perf.data: says so" says "$dir/message" 'not a perf.data'
mkdir -p "$dir/with-kcore"
check "a directory without a recording: an error" fails "$rv" script -i "$dir/with-kcore"
check "a directory without a recording: says so" says "$dir/message" "no directory with the file .data."
cp "$dir/share/perf.data" "$dir/with-kcore/data"
sum_of() { "$rv" script -i "$1" --symfs "$dir/share:$("$LAB" path guest)" --raw-pc | cksum; }
is "a directory of perf record --kcore is read" "$(sum_of "$dir/share/perf.data")" "$(sum_of "$dir/with-kcore")"
touch "$dir/with-kcore/data.0"
check "a recording in several files: an error" fails "$rv" script -i "$dir/with-kcore"
check "a recording in several files: says so" says "$dir/message" "--threads"
check "no file: an error" fails "$rv" script -i "$dir/absent"
check "no file: says so" says "$dir/message" 'No such file'
mkdir -p "$dir/empty"
"$rv" script -i "$dir/share/perf.data" --symfs "$dir/empty" >"$dir/gaps" 2>"$dir/message"
check "missing ELF files: they are named" says "$dir/message" 'libc.so.6'
mkdir -p "$dir/wrong/usr/bin"
cp /bin/true "$dir/wrong/usr/bin/sort"
"$rv" script -i "$dir/share/perf.data" --symfs "$dir/wrong" >"$dir/gaps" 2>"$dir/message"
check "wrong ELF file: it is named, with the reason" says "$dir/message" '/sort.*build'

guest protocol testing 'protocol=0x02' '
	insmod rvtrace.ko
	perf-rvtrace record -o none.data -- true > message 2>&1 && exit 1
	dmesg | grep rvtrace > log; true'
ok $? "unknown protocol version: recording fails"
check "unknown protocol version: says so" says "$dir/share/log" 'version 2.0'

hook=$TOP/build/guest/no-trace-hardware
printf '#!/bin/sh\nexit 0\n' >"$hook"
chmod +x "$hook"
dir=$TOP/build/guest/record-none
mkdir -p "$dir/share"
cp "$TOP/build/riscv64/perf-rvtrace" "$TOP/build/driver/testing/rvtrace.ko" "$dir/share/"
"$LAB" run --kernel testing --share "$dir/share" --timeout 120 -- \
	'insmod rvtrace.ko; ./perf-rvtrace record -o none.data -- true > message 2>&1 && exit 1; true' \
	>"$dir/output" 2>&1
ok $? "no trace hardware: recording fails"
check "no trace hardware: says so" says "$dir/share/message" 'devicetree\|no trace hardware'

done_testing
