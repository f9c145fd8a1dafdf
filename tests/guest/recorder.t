#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# record as people know it from perf: --control, --switch-output, --max-size, -D, -u; and what is left
# of it when stock perf, which runs it, dies.
. "$(dirname "$0")/lib.sh"

guest options testing '' '
	insmod rvtrace.ko || exit 1
	seq 1 3000 | awk "{ print (\$1 * 7919) % 100003 }" > input
	# tracing begins when that is said, pauses, goes on, and ends when that is said
	mkfifo ctl ack
	perf-rvtrace record -a -D -1 --control fifo:ctl,ack -e rvtrace//u -o control.data 2> control.err &
	recorder=$!
	exec 3<> ack
	say() { echo $1 > ctl; read answer <&3; [ "$answer" = ack ]; }
	say ping || exit 2
	sort -r input > /dev/null		# not traced
	say enable || exit 3
	sort -n input > sorted
	say disable || exit 4
	gzip -c input > /dev/null		# not traced
	say enable || exit 5
	tail -n 1 input > /dev/null
	echo nonsense > ctl
	say stop || exit 6
	wait $recorder || exit 7
	# one file after another
	perf-rvtrace record --switch-output=signal -e rvtrace//u -o many.data -- sh -c "
		for i in 1 2 3; do sort -n input > sorted; kill -USR2 \$PPID; sleep 2; done" 2> many.err || exit 8
	ls many.data.* | wc -l > many.count
	i=0; for file in many.data.*; do i=$((i + 1)); mv $file many.$i; done
	# an index of each
	perf-rvtrace record --index --switch-output=signal -e rvtrace//u -o indexed.data -- sh -c "
		for i in 1 2; do sort -n input > sorted; kill -USR2 \$PPID; sleep 2; done" 2> indexed.err || exit 12
	for file in indexed.data.*; do
		case $file in *.rvtrace-index) continue;; esac
		perf-rvtrace report -i $file --time 0,1 --verbose > report 2>&1
		grep -q "holds no trace" report || grep -c "bytes of trace are decoded" report
	done > indexed.count
	# nothing happens between two signals: the second file has no trace
	perf-rvtrace record --index --switch-output=signal -e rvtrace//u -o idle.data -- sleep 6 2> idle.err &
	sleep 3; kill -USR2 $!; sleep 1; kill -USR2 $!
	wait $! || exit 13
	# enough is enough
	perf-rvtrace record --max-size=100K -z -e rvtrace//u -o max.data -- \
		sh -c "while :; do sort -n input > sorted; done" 2> max.err
	# later
	perf-rvtrace record -D 2000 -e rvtrace//u -o delay.data -- sh -c "sort -n input > sorted; sleep 4; tail -n 1 input" || exit 9
	# whose it is
	sh -c "while :; do sort -n input > sorted; sleep 1; done" & sleep 1
	timeout -s INT 8 perf-rvtrace record -u root -e rvtrace//u -o user.data 2> user.err
	kill $!
	perf-rvtrace record -u nobody-there 2> nobody.err && exit 10
	# which code
	perf-rvtrace record --all-user -o all-user.data -- sort -n input > sorted || exit 14
	perf-rvtrace record --all-kernel -o all-kernel.data -- sort -n input > sorted || exit 15
	perf-rvtrace record --all-kernel -e rvtrace//u -- true 2> nothing.err && exit 16
	# stock perf dies, the recorder ends and the file is whole
	perf rvtrace record -a -e rvtrace//u -o orphan.data 2> orphan.err &
	i=0; until [ -s orphan.data ] || [ $((i += 1)) -gt 60 ]; do sleep 1; done; sleep 2
	kill -KILL $!
	# The module is in use for as long as the recorder lives.
	i=0; until rmmod rvtrace 2> /dev/null; do [ $((i += 1)) -le 30 ] || exit 11; sleep 1; done'
ok $? "all was recorded"

# decodes FILE: as executed
decodes()
{
	equals_truth "$dir/share/$1" --lossy --min "$2"
}

# comms FILE: of whom there is trace
comms()
{
	"$HOST/perf-rvtrace" report -i "$dir/share/$1" --symfs "$dir/share:$("$LAB" path guest)" -s comm 2>/dev/null |
		awk '/%/ { print $NF }' | sort | tr '\n' ' '
}

check "--control: what was traced is what was executed" decodes control.data 10000
[[ $(comms control.data) == *sort* && $(comms control.data) == *tail* && $(comms control.data) != *gzip* ]]
ok $? "--control: what ran between disable and enable is not there ($(comms control.data))"
check "--control: an unknown command is named" grep -q "'nonsense' is unknown" "$dir/share/control.err"
[ "$(cat "$dir/share/many.count")" -ge 3 ]
ok $? "--switch-output: $(cat "$dir/share/many.count") files"
for i in 1 2 3; do
	check "--switch-output: file $i is what was executed" decodes many.$i 10000
done
[ "$(grep -c "^1$" "$dir/share/indexed.count")" -ge 2 ] && ! grep -qv "^1$" "$dir/share/indexed.count"
ok_or_show $? "--index: each file has one that is good" "$dir/share/indexed.err"
check "--index: a file without trace needs none" sh -c "! grep -v ' is complete \| MB of trace' '$dir/share/idle.err'"
check "--max-size: it is what was executed" decodes max.data 1000
size=$(stat -c %s "$dir/share/max.data")
[ "$size" -gt 100000 ] && [ "$size" -lt 40000000 ]
ok $? "--max-size: $size bytes with the kernel's code"
[[ $(comms delay.data) == *tail* && $(comms delay.data) != *sort* ]]
ok $? "-D: only what ran later ($(comms delay.data))"
[[ $(comms user.data) == *sort* ]]
ok $? "-u: the user's process ($(comms user.data))"
check "-u: nobody" grep -q "there is no user 'nobody-there'" "$dir/share/nobody.err"
check "--all-kernel of user code: nothing" grep -q "'rvtrace//u' with --all-kernel leaves nothing" "$dir/share/nothing.err"
for which in user:U kernel:S; do
	check "--all-${which%:*}: it is what was executed" decodes all-${which%:*}.data 10000
	is "--all-${which%:*}: nothing else" "${which#*:}" "$("$HOST/perf-rvtrace" script --raw-pc -i "$dir/share/all-${which%:*}.data" \
		--symfs "$dir/share:$("$LAB" path guest)" 2>/dev/null | awk '!/^#/ { print $3 }' | sort -u | tr '\n' ' ' | sed 's/ $//')"
done
"$HOST/perf-rvtrace" stat -i "$dir/share/orphan.data" >"$dir/orphan" 2>&1
grep -q '^all' "$dir/orphan" && ! grep -q "never completed" "$dir/orphan"
ok_or_show $? "stock perf is killed: the recording is complete" "$dir/orphan"
check "no rule of the control interface was broken" no_violations
done_testing
