#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A recorder that is killed at any moment, and one whose disk is full: the file has all records up to
# some place, and what is missing is said; encoders are left as if it had ended. KILLS=10: so many
# times, of each way to record.
. "$(dirname "$0")/../lib.sh"

kills=${KILLS:-50}
GUEST_TIMEOUT=${GUEST_TIMEOUT:-1800}
keep_truth=

# shellcheck disable=SC2016 # expands in the guest
guest main testing '' 'kills='"$kills"'
	insmod rvtrace.ko || exit 1
	mkdir -p /tmp/k
	seq 1 20000 | sort -R > /tmp/input
	# what works meanwhile: much of it, so that a file is written all the time
	cat > /tmp/work <<-"END"
		while :; do sort -n /tmp/input | gzip -c > /dev/null; ls -lR /etc > /dev/null; done
	END
	sh /tmp/work &
	work=$!
	# moments NAME OPTION...: every other one is killed at any moment until 4 seconds after it has a
	# file; how long that takes differs from start to start. The others within the first 2 seconds.
	moments()
	{
		name=$1; shift
		for i in $(seq 1 $kills); do
			file=/tmp/k/$name-$i.data
			perf-rvtrace record -a "$@" -o $file -- sleep 100 > /tmp/k/log 2>&1 &
			recorder=$!
			latest=2
			if [ $((i % 2)) = 0 ]; then
				latest=4
				until [ -s $file ]; do sleep 0.05; done
			fi
			sleep $(awk -v seed=$i$# -v latest=$latest \
				"BEGIN { srand(seed); print latest * rand() }")
			kill -9 $recorder
			wait $recorder 2> /dev/null
			pkill -x sleep
		done
	}
	moments plain
	moments packed -z
	ls -l /tmp/k > sizes
	# another recorder works
	perf-rvtrace record -a -o after.data -- sleep 0.2 2> after.err || exit 2
	# a disk of 512 KiB
	mkdir -p /tmp/disk && mount -t tmpfs -o size=512k none /tmp/disk || exit 3
	perf-rvtrace record -a -o /tmp/disk/full.data -- sleep 4 2> full.err
	echo $? > full.status
	cp /tmp/disk/full.data .
	kill $work
	mkdir kills && cp /tmp/k/*.data kills/
	rmmod rvtrace || exit 4'
ok $? "recorders were killed, another one works, the module unloads"

# readable FILE: it can be read up to some place, or says why not. Prints how much trace there is.
readable()
{
	local status

	timeout 60 "$HOST/perf-rvtrace" stat --force -i "$1" --symfs "$("$LAB" path guest)" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -lt 124 ] || { echo "$1: exit status $status"; return 1; }
	if grep -q '^ *all ' "$dir/out"; then
		# what was written to the file is whole: no message is damaged
		grep -qE 'was the recorder killed|truncated' "$dir/err" || { echo "$1: does not say that it was killed"; cat "$dir/err"; return 1; }
		! grep -q 'damaged:' "$dir/err" || { cat "$dir/err"; return 1; }
		awk '$1 == "all" { print $2 }' "$dir/out"
	else
		grep -qE 'not a perf.data file|truncated|holds no trace|killed' "$dir/err" || { echo "$1: says nothing"; cat "$dir/err"; return 1; }
		echo 0
	fi
}

for way in plain packed; do
	bad=0 some=0 files=0
	for file in "$dir/share/kills/$way"-*.data; do
		files=$((files + 1))
		trace=$(readable "$file") || { diag <<<"$trace"; bad=$((bad + 1)); continue; }
		[ "$trace" = 0 ] || some=$((some + 1))
	done
	ok $bad "$way: $files files of $kills that were killed can be read, or say why not"
	[ $some -ge $((kills / 3)) ]
	ok $? "$way: $some of them have trace"
done
is "a full disk is an error" 1 "$(cat "$dir/share/full.status")"
grep -q "No space left on device" "$dir/share/full.err"
ok_or_show $? "and it is said" "$dir/share/full.err"
timeout 60 "$HOST/perf-rvtrace" stat --force -i "$dir/share/full.data" --symfs "$("$LAB" path guest)" >"$dir/out" 2>"$dir/err"
grep -q '^ *all ' "$dir/out"
ok_or_show $? "what fitted on the disk can be read" "$dir/err"
check "the driver kept to the rules" no_violations
rm -rf "$dir/share/kills"
done_testing
