#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# N-Trace where only part of a program is traced: address ranges, pairs of start and stop, triggers.
# What was decoded is what the encoder was let see, and of each function exactly what was asked for.
. "$(dirname "$0")/../lib.sh"

rounds=20
lab_options='--append iomem=relaxed'
check "cross-compile the program" workload spans -static
readelf=$TOP/tools/lab/cross/riscv64-linux-gnu-readelf
declare -A address size offset
while read -r value length name; do
	address[$name]=$value
	size[$name]=$length
done < <("$readelf" -sW "$guest_bin/spans" | awk '$4 == "FUNC" && $8 ~ /^(first|second|third)$/ { print $2, $3, $8 }')
# shellcheck disable=SC2046
set -- $("$readelf" -lW "$guest_bin/spans" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
for name in first second third; do
	offset[$name]=$(printf 0x%x $((0x${address[$name]} - $2 + $1)))
done
file=/mnt/share/spans

guest spans testing user-io=on "insmod rvtrace.ko || exit 1
	rec() { name=\$1; shift; perf-rvtrace record -q -m ,8M -o \$name.data \"\$@\"; }
	# What other tasks that run meanwhile do not change.
	once() { rec \"\$@\" || [ \$? -eq 3 ]; }
	# And what they do.
	alone()
	{
		only=\$1; shift
		for try in 0 1 2 3 4 5 6 7 8 9; do
			rec \$only-\$try \"\$@\"
			status=\$?
			[ \$status -eq 3 ] || break
		done
		mv \$only-\$try.data \$only.data
		return \$status
	}
	once all -e rvtrace//u -- spans $rounds || exit 2
	once range -e rvtrace//u --filter 'filter ${offset[second]}/${size[second]}@$file' -- spans $rounds || exit 3
	once without -e rvtrace//u --filter 'stop ${offset[second]}/${size[second]}@$file' -- spans $rounds || exit 4
	alone pair -e rvtrace//u --filter 'start ${offset[first]}@$file,stop ${offset[second]}@$file' -- spans $rounds || exit 5
	# Input 0 starts trace, input 1 stops it.
	echo 0x32 > /sys/bus/rvtrace/devices/encoder-0/trig_ext_in
	encoder=\$(readlink /sys/bus/rvtrace/devices/encoder-0 | sed 's,.*/\\([0-9a-f]*\\)[.][^/]*/encoder-0\$,\\1,')
	alone triggers -e rvtrace/trigger/u -- spans $rounds \$encoder || exit 6
	rmmod rvtrace"
ok $? "parts of a program are recorded"

# everything: what was decoded of all recordings, one behind the other, is the boot's whole truth.
everything()
{
	set -o pipefail
	for name in all range without pair-{0..9} pair triggers-{0..9} triggers; do
		[ ! -e "$dir/share/$name.data" ] || raw_pc "$dir/share/$name.data" || return
	done | "$HOST/rvt-truth-diff" --min $((rounds * 1000)) "$dir/truth"
}

# calls NAME: how often each function was entered, and how many instructions of it there are, as
# "first N M ...".
calls()
{
	raw_pc "$dir/share/$1.data" | awk -v functions="first ${address[first]} ${size[first]}
		second ${address[second]} ${size[second]} third ${address[third]} ${size[third]}" '
		function value(hex, i, n) {
			for (i = 1; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		BEGIN { n = split(functions, f); for (i = 1; i <= n; i += 3) { from[f[i]] = value(f[i + 1]); to[f[i]] = from[f[i]] + f[i + 2] } }
		/^#/ || $3 != "U" { next }
		{ pc = value($4); for (name in from) if (pc >= from[name] && pc < to[name]) { all[name]++; calls[name] += pc == from[name] } }
		END { print "first", calls["first"] + 0, all["first"] + 0, "second", calls["second"] + 0, all["second"] + 0,
			"third", calls["third"] + 0, all["third"] + 0 }'
}

# What the other recordings must have of a function is what there is without a filter.
read -r _ calls1 all1 _ calls2 all2 _ calls3 all3 < <(calls all)
is "without a filter: each function once a round" \
	"$rounds $rounds $rounds" "$calls1 $calls2 $calls3"
check "what was decoded is what the encoder was let see" everything
is "range: the function and no other" "first 0 0 second $rounds $all2 third 0 0" "$(calls range)"
is "without: all but the function" \
	"first $rounds $all1 second 0 0 third $rounds $all3" "$(calls without)"
# The instruction at which it stops is traced still.
is "pair: from the first function up to the second" \
	"first $rounds $all1 second $rounds $rounds third 0 0" "$(calls pair)"
is "triggers: without what was between the pulses" \
	"first $rounds $all1 second 0 0 third $rounds $all3" "$(calls triggers)"
check "no rule of the control interface was broken" no_violations
done_testing
