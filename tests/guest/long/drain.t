#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The recorder keeps up with four harts that are always busy, traced in user and kernel mode, the recorder itself among it:
# nothing is lost, though there is several times as much trace as the buffers hold. In the lab a hart is slow, but
# the recorder runs on these harts, too: how fast the machine below is makes no difference.
. "$(dirname "$0")/../lib.sh"

rv=$HOST/perf-rvtrace
keep_truth=
lab_options='--smp 4'
GUEST_TIMEOUT=900
buffer=$((512 << 10))

# nothing_lost NAME BYTES: there is so much trace of each hart at least, and no piece of it is missing.
nothing_lost()
{
	"$rv" stat -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" >"$dir/$1.stat" 2>&1
	cat "$dir/$1.stat"
	awk -v least="$2" '$1 ~ /^[0-3]$/ { cpus += $2 >= least; lost += $7 } $1 == "all" { gaps = $6 }
		END { exit cpus != 4 || lost || gaps }' "$dir/$1.stat"
}

# shellcheck disable=SC2016 # expands in the guest
guest main testing '' '
	insmod rvtrace.ko || exit 1
	seq 1 2000 | awk "{ print (\$1 * 7919) % 100003, \$1 }" > /tmp/input
	# each kind of work on each hart
	cat > /tmp/work <<-"END"
		for cpu in 0 1 2 3; do
			taskset -c $cpu sh -c "
				gzip -c /tmp/input > /dev/null
				sort -n /tmp/input > /dev/null
				i=0; while [ \$i -lt 5 ]; do i=\$((i + 1)); /bin/true; done" &
		done
		wait
	END
	perf-rvtrace record -a -m ,512K -o /tmp/plain.data -- sh /tmp/work 2> plain.err || exit 2
	# to compress is as much work as it is on any machine, so the recorder goes first; not the command
	chrt --reset-on-fork --fifo 1 perf-rvtrace record -a -z -o /tmp/packed.data -- sh /tmp/work 2> packed.err || exit 3
	# one thread cannot decode what four harts do for ever: what waits has room in memory
	perf-rvtrace record -a --profile -o counts -- sh /tmp/work 2> profile.err || exit 4
	cat plain.err packed.err profile.err
	mv /tmp/plain.data /tmp/packed.data .'
ok $? "recorded, four harts"
check "plain: nothing is lost of more than thrice what the buffers hold" nothing_lost plain $((3 * buffer))
check "compressed: nothing is lost" nothing_lost packed $((2 * buffer))
for name in plain packed profile; do
	check "$name: the recorder says nothing of losses" sh -c "grep 'MB of trace' '$dir/share/$name.err' &&
		! grep 'lost' '$dir/share/$name.err'"
done
check "compressed, it is smaller" sh -c "[ \$(stat -c %s '$dir/share/packed.data') -lt \$((\$(stat -c %s '$dir/share/plain.data') * 9 / 10)) ]"
check "--profile: without gaps" grep -q ' 0 gaps' "$dir/share/profile.err"
check "no rule of the control interface was broken" no_violations
done_testing
