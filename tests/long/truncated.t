#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A file as a power cut leaves it: a recording that ends at any of 1000 places. What is whole is
# decoded, and what is missing is said. CUTS=100: at so many places.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
make -s build/host/rvt-recording build/host/rvt-grow "$rv" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

says="truncated|killed|not a perf.data file|it holds no trace|damaged|missing|metadata|bytes of trace are not in the file|next to nothing|not an ELF"
cuts=${CUTS:-1000}

# cut NAME FILE: each beginning of the file.
cut_everywhere()
{
	local size at i status insns last=0 good=0 silent=0 bad=0 less=0

	size=$(stat -c %s "$2")
	"$rv" report -i "$2" --symfs "$dir/root" >"$dir/whole" 2>&1
	for ((i = 1; i <= cuts; i++)); do
		# the first and the last bytes one by one, where most structures are; the rest evenly
		if ((i <= cuts / 10)); then
			at=$i
		elif ((i > cuts - cuts / 10)); then
			at=$((size - (cuts - i) - 1))
		else
			at=$((size * i / cuts))
		fi
		head -c "$at" "$2" >"$dir/cut"
		timeout 20 "$rv" report -f -i "$dir/cut" --symfs "$dir/root" >"$dir/out" 2>"$dir/err"
		status=$?
		if [ $status -ge 124 ]; then
			echo "at $at: exit status $status"
			bad=$((bad + 1))
		elif ! grep -qE "$says" "$dir/err" "$dir/out"; then
			echo "at $at: nothing is said, exit status $status"
			head -n 3 "$dir/err"
			silent=$((silent + 1))
		fi
		# more of the file, at least as much of the flow
		insns=$(sed -n 's/^# \([0-9]*\) instructions executed.*/\1/p' "$dir/out")
		[ "${insns:-0}" = 0 ] || {
			good=$((good + 1))
			[ "$insns" -ge "$last" ] || { echo "at $at: $insns instructions, $last before"; less=$((less + 1)); }
			last=$insns
		}
	done
	echo "$1: $size bytes, $good of $cuts have flow, the longest $last instructions"
	[ $((bad + silent + less)) = 0 ] && [ $good -gt $((cuts / 4)) ] && [ "$last" -gt 1000 ]
}

mkdir "$dir/root"
build/host/rvt-recording "$dir/perf.data" /program 0 prog 20000
cp "$dir/perf.data.program" "$dir/root/program"
cut_everywhere recording "$dir/perf.data" >"$dir/log"
ok_or_show $? "a recording of two cpus that ends at $cuts places" "$dir/log"
tail -n 1 "$dir/log" | sed 's/^/# /'
done_testing
