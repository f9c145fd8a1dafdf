# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests of call stacks, after lib.sh.

# same_contexts NAME: threads count calling contexts of $dir/share/NAME.data as one thread does,
# wherever their slices begin.
same_contexts()
{
	local command jobs

	for command in "report -g --json" "profile -f callgrind"; do
		for jobs in 1 3; do
			# shellcheck disable=SC2086 # they are several words
			SMALL_SLICES=20000 "$HOST/perf-rvtrace-small-slices" $command --jobs $jobs -i "$dir/share/$1.data" \
				--symfs "$dir/share:$("$LAB" path guest)" >"$dir/jobs.$jobs" 2>/dev/null
		done
		[ "$(wc -l <"$dir/jobs.1")" -gt 100 ]
		ok $? "$1: $command has contexts"
		check "$1: $command --jobs 3: the same" cmp "$dir/jobs.1" "$dir/jobs.3"
	done
}
