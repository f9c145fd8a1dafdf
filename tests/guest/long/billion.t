#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# 10^9 instructions of user and kernel on four harts: all that was decoded is what was executed.
# Neither decoding nor comparing takes more memory for it. INSNS=100000000: so many are enough;
# ROUNDS=20: how often each hart does its work.
. "$(dirname "$0")/../lib.sh"

insns=${INSNS:-1000000000}
lab_options='--smp 4 --mem 3072'
GUEST_TIMEOUT=${GUEST_TIMEOUT:-2400}

# shellcheck disable=SC2016 # expands in the guest
guest main testing '' 'rounds='"${ROUNDS:-13}"'
	insmod rvtrace.ko || exit 1
	seq 1 2000 | awk "{ print (\$1 * 7919) % 100003, \$1 }" > /tmp/input
	cat > /tmp/work <<-"END"
		for cpu in 0 1 2 3; do
			taskset -c $cpu sh -c "
				for round in $(seq -s " " $1); do
					gzip -c /tmp/input > /dev/null
					sort -n /tmp/input > /dev/null
					/bin/true
				done" &
		done
		wait
	END
	perf-rvtrace record -a -m ,32M -o /tmp/perf.data -- sh /tmp/work $rounds 2> err || exit 2
	cat err
	mv /tmp/perf.data .'
ok $? "four harts are recorded, user and kernel"

# compared: as equals_truth, with the memory that each side of the pipe took.
compared()
{
	set -o pipefail
	/usr/bin/time -f 'script: %M KiB, %e s' "$HOST/perf-rvtrace" script -i "$dir/share/perf.data" \
		--symfs "$dir/share:$("$LAB" path guest)" --raw-pc 2>"$dir/script.err" |
		/usr/bin/time -f 'rvt-truth-diff: %M KiB, %e s' -o "$dir/diff.time" \
			"$HOST/rvt-truth-diff" --min "$insns" "$dir/truth" >"$dir/diff"
	status=$?
	cat "$dir/diff" "$dir/diff.time"
	tail -n 3 "$dir/script.err"
	return $status
}

compared >"$dir/compared"
ok_or_show $? "every instruction of $insns and more is what was executed" "$dir/compared"
sed 's/^/# /' "$dir/compared"
# The truth alone would take 24 bytes for each instruction.
awk '/^rvt-truth-diff:/ { kib = $2 } END { print kib " KiB"; exit !kib || kib > 200000 }' "$dir/diff.time" >"$dir/memory"
ok_or_show $? "comparing takes no memory for it" "$dir/memory"
check "the driver kept to the rules" no_violations
rm -rf "$dir/truth" "$dir/share/perf.data"
done_testing
