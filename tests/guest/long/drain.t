#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The recorder keeps up with four harts that are always busy, traced in user and kernel mode, the
# recorder itself among it: nothing is lost in the buffers that it chooses itself, though there is
# more trace of each hart than its buffer holds. In the lab a hart is slow, but the recorder runs on
# these harts, too. To compress all of it is more than all of them together could do (some thirty
# instructions a byte, and these are traced, too): what there is no time for is written as it is.
. "$(dirname "$0")/../lib.sh"

rv=$HOST/perf-rvtrace
keep_truth=
lab_options='--smp 4'
GUEST_TIMEOUT=900
buffer=$((4 << 20))	# record's own choice for root

# nothing_lost NAME BYTES: there is so much trace of each hart at least, and no piece of it is
# missing.
nothing_lost()
{
	"$rv" stat -i "$dir/share/$1.data" \
		--symfs "$dir/share:$("$LAB" path guest)" >"$dir/$1.stat" 2>&1
	cat "$dir/$1.stat"
	awk -v least="$2" \
		'$1 ~ /^[0-3]$/ { cpus += $2 >= least; lost += $7 } $1 == "all" { gaps = $6 }
		END { exit cpus != 4 || lost || gaps }' "$dir/$1.stat"
}

# shellcheck disable=SC2016 # expands in the guest
guest main testing '' '
	insmod rvtrace.ko || exit 1
	seq 1 2000 | awk "{ print (\$1 * 7919) % 100003, \$1 }" > /tmp/input
	# each kind of work on each hart, so many times over
	cat > /tmp/work <<-"END"
		for cpu in 0 1 2 3; do
			taskset -c $cpu sh -c "
				for round in $*; do
					gzip -c /tmp/input > /dev/null
					sort -n /tmp/input > /dev/null
					for i in 1 2 3 4 5; do /bin/true; done
				done" &
		done
		wait
	END
	perf-rvtrace record -a -o /tmp/plain.data -- sh /tmp/work 1 2 3 4 2> plain.err || exit 2
	perf-rvtrace record -a -z -o /tmp/packed.data -- sh /tmp/work 1 2 3 4 2> packed.err || exit 3
	# one thread cannot decode what four harts do for ever: what waits has room in memory
	perf-rvtrace record -a --profile -o counts -- sh /tmp/work 1 2> profile.err || exit 4
	cat plain.err packed.err profile.err
	mv /tmp/plain.data /tmp/packed.data .'
ok $? "recorded, four harts"
check "plain: nothing is lost of more than the buffers hold" nothing_lost plain $((buffer + 1))
check "packed: nothing is lost of more than the buffers hold" nothing_lost packed $((buffer + 1))
for name in plain packed profile; do
	check "$name: the recorder says nothing of losses" \
		sh -c "grep 'MB of trace' '$dir/share/$name.err' &&
		! grep 'lost' '$dir/share/$name.err'"
done
check "compressed, it is smaller" awk '/MB of trace/ { trace = $5; file = $9 }
	END { exit !(file < trace) }' "$dir/share/packed.err"
check "--profile: without gaps" grep -q ' 0 gaps' "$dir/share/profile.err"
check "no rule of the control interface was broken" no_violations
done_testing
