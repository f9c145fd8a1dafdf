#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# rvt-truth-diff finds what is wrong in a flow with gaps, and its memory does not grow with the flow
# or the truth: segments here have more instructions than it keeps, and begin amid loops.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# What one record of each instruction would take is more than twice as much.
loops=12 rounds=300000 limit_kib=100000

# compared WRONG OPTION...
compared()
{
	local truth=$dir/truth-$1

	mkdir -p "$truth"
	# The truth is whole when the flow begins.
	build/host/rvt-loops "$truth" $loops $rounds ${1:+"$1"} |
		{ read -r first; { echo "$first"; cat; } |
			(ulimit -v $limit_kib; build/host/rvt-truth-diff "${@:2}" "$truth"); } >"$dir/out" 2>&1
}

compared '' --lossy --min $((loops * rounds * 2))
ok_or_show $? "a long flow with gaps equals the truth" "$dir/out"
is "so many instructions and segments" "equal: $(((loops * rounds - loops / 2 * rounds / 2) * 3 + loops * 6)) instructions in $((loops / 2 + 1)) segments, $((loops / 2)) gaps" \
	"$(tail -n 1 "$dir/out")"
for wrong in pc privilege thread more fewer; do
	compared $wrong --lossy
	is "with another $wrong it does not: exit status" 1 $?
	grep -q '^FIRST DIFFERENCE: cpu 0' "$dir/out"
	ok_or_show $? "with another $wrong it does not: says so" "$dir/out"
done
compared ''
is "without --lossy, what is missing is a difference" 1 $?
done_testing
