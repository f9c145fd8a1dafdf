#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# record --profile for a long time: programs start, load and unload objects, and end all the while.
# The recorder's memory has a bound, the kernel's stays what it was after the first quarter, nothing
# is lost, and a function was entered as often as it was called. RECORD_SECONDS=7200: for so long.
. "$(dirname "$0")/../lib.sh"

seconds=${RECORD_SECONDS:-600}
GUEST_TIMEOUT=$((seconds + 300))
keep_truth=

check "cross-compile the workload" workload dlopen -ldl
for n in 1 2; do
	"$LAB" cross-cc -O2 -shared -fPIC -DSTEPS=$n -o "$guest_bin/plugin-$n.so" \
		"$TOP/tests/guest/workloads/plugin.c"
done

# shellcheck disable=SC2016 # expands in the guest
guest main testing '' 'seconds='"$seconds"'
	insmod rvtrace.ko || exit 1
	seq 1 300 > numbers
	# each round: a program that loads objects, others that do not, and their pipes
	cat > work <<-"END"
		rounds=0
		while read now rest < /proc/uptime && [ ${now%.*} -lt $1 ]; do
			dlopen ./plugin-1.so plugin_function 71 ./plugin-2.so plugin_function 73
			sort -n numbers | gzip -c > /dev/null
			rounds=$((rounds + 1))
			echo $rounds > rounds
			# the decoder has to come along in an emulator, too
			sleep 1
		done
	END
	read now rest < /proc/uptime
	end=$((${now%.*} + seconds))
	taskset -c 0 perf-rvtrace record --profile -o live -e rvtrace//u -- \
		taskset -c 1 sh work $end 2> err &
	recorder=$!
	# uptime, KiB of the recorder, KiB that the kernel has for itself
	while [ -d /proc/$recorder ] && read now rest < /proc/uptime && [ ${now%.*} -lt $end ]; do
		sleep $((seconds / 200 + 1))
		awk -v now=${now%.*} "
			/^RssAnon:/ { anon = \$2 }
			/^(SUnreclaim|KernelStack|PageTables|VmallocUsed|Percpu):/ { kernel += \$2 }
			END { print now, anon, kernel }" /proc/$recorder/status /proc/meminfo >> memory
	done
	wait $recorder || exit 2
	cat err
	rmmod rvtrace || exit 3'
ok $? "recorded for $seconds seconds"

# took COLUMN: what was taken on average, a line that says so.
took()
{
	awk -v column="$1" '
		{ value[NR] = $column }
		END {
			quarter = int(NR / 4)
			for (i = 1; i <= quarter; i++) {
				before += value[quarter + i] / quarter
				after += value[NR - quarter + i] / quarter
			}
			printf "%d samples: %d KiB in the second quarter, %d KiB in the last\n",
				NR, before, after
		}' "$dir/share/memory"
}

# Blocks of code are forgotten at 64 MiB, the tables of each cpu have their ends, and threads are
# forgotten that have ended.
echo "# recorder: $(took 2)"
awk '$2 > most { most = $2 } END { print most " KiB"; exit NR < 40 || !most || most > 400 * 1024 }' \
	"$dir/share/memory" >"$dir/recorder"
ok_or_show $? "the recorder takes at most 400 MiB" "$dir/recorder"
took 3 >"$dir/kernel"
awk '{ before = $3; after = $9 } END { exit !before || after > before + 4096 }' "$dir/kernel"
ok_or_show $? "the kernel takes no more with time" "$dir/kernel"
sed 's/^/# kernel: /' "$dir/kernel"
check "nothing was lost" sh -c "! grep -i 'lost' '$dir/share/err'"

# entered FILE FUNCTION: how often the function was entered
entered()
{
	local addr

	addr=$(nm "$guest_bin/$1" | awk -v name="$2" '$3 == name { sub("^0*", "", $1); print $1 }')
	awk -v file="/$1" -v addr="$addr" \
		'/^file/ { inside = substr($0, length($0) - length(file) + 1) == file }
		inside && $1 == "F" && $2 == addr { n += $4 } END { print n + 0 }' "$dir/share/live"
}

rounds=$(cat "$dir/share/rounds")
echo "# $rounds rounds"
is "calls of one object's function" $((71 * rounds)) "$(entered plugin-1.so first_plugin)"
is "calls of another's" $((73 * rounds)) "$(entered plugin-2.so second_plugin)"
check "the driver kept to the rules" no_violations
done_testing
