#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Bare dumps of E-Trace, of two harts in one stream: whole, wrapped and damaged. Damaged recordings.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../dump-lib.sh"

modes=sequential_jump,implicit_return,implicit_exception,branch_prediction,jump_target_cache

check "cross-compile the program" workload mixture -static

# dumped: the dump command shows a packet of every kind that is in there, and ends well.
dumped()
{
	local kind

	"$rv" dump --params "$dir/params" "$dump" >"$dir/out" 2>"$dir/err" || return
	for kind in sync-start sync-support branch-map branch-count jump-target; do
		grep -q " $kind" "$dir/out" || { echo "no $kind"; return 1; }
	done
}

# places FILE: where in the file some trap packets with timestamps lie, which are not like each
# other.
places()
{
	local bytes

	"$rv" dump "$1" 2>/dev/null | awk '/ sync-trap / && ++n % 20 == 10 {
		text = ""
		for (i = 2; $i ~ /^[0-9a-f][0-9a-f]$/; i++)
			text = text "\\x" $i
		print text }' | head -n 8 | while read -r bytes; do
		LC_ALL=C grep -obUaP -m 1 -- "$bytes" "$1" | head -n 1 | cut -d: -f1
	done
}

# A recording whose trace is damaged: flow is lost there, and goes on.
recording_survives()
{
	local at n=0 gaps whole rest

	cp "$dir/share/perf.data" "$dir/damaged.data"
	for at in $(places "$dir/share/perf.data"); do
		printf '\377\000\125\252\013' |
			dd of="$dir/damaged.data" bs=1 seek="$at" conv=notrunc status=none
		n=$((n + 1))
	done
	[ $n -ge 4 ] || { echo "$n places"; return 1; }
	whole=$(raw_pc "$dir/share/perf.data" | grep -vc '^#')
	raw_pc "$dir/damaged.data" >"$dir/out" 2>"$dir/err"
	[ $? -le 1 ] || return
	gaps=$(grep -c '^# lost .*offset' "$dir/out")
	rest=$(grep -vc '^#' "$dir/out")
	echo "$n places, $gaps gaps, $rest of $whole instructions"
	[ "$gaps" -ge "$n" ] && [ "$rest" -gt $((whole / 2)) ] &&
		! grep -vqE '^#|[02468ace]$' "$dir/out"
}

for setting in 2.0:testing 0.029:stable; do
	dialect=${setting%:*}
	probe=$TOP/build/guest/etrace-probe
	rm -rf "$probe" && mkdir -p "$probe"
	model=$TOP/tools/model/params/etrace-$dialect
	hook_options="--topology pib --params $model"
	guest "$dialect" "${setting#*:}" "topology=pib,capture=$probe,etrace=$model,formats=etrace" "insmod rvtrace.ko || exit 1
		perf-rvtrace record -q -o a.data -e rvtrace/$modes,context/u -- mixture forked || exit 2
		perf-rvtrace record -q -o b.data -e rvtrace/context/u -- mixture forked || exit 3
		cat /sys/bus/rvtrace/devices/encoder-0/src_bits > src_bits"
	ok $? "$dialect: a probe at the pins sees two harts"
	dump=$probe/pib.0
	program=$dir/share/mixture
	# What is left of a ring may begin before a support packet says what the options are.
	(cat "$model"; echo "srcid_bits = $(cat "$dir/share/src_bits")"; echo "options = ${modes//,/, }") >"$dir/params"
	truth_of_dump
	check "$dialect: instructions of both harts equal the truth" both_harts "$dump"
	check "$dialect: the same with two jobs" both_harts --jobs 2 "$dump"
	check "$dialect: begins inside a packet" cut_anywhere
	check "$dialect: wrapped" wrapped
	check "$dialect: dump shows every kind of packet" dumped
	for kind in cut end zeros noise flips; do
		check "$dialect: damaged, $kind: decoding ends by itself, it is reported if it can be seen, and local" survives $kind
	done
	check "$dialect: no rule of the control interface was broken" no_violations
done

hook_options="--params $TOP/tools/model/params/etrace-2.0"
guest recording testing "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace" \
	"insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -o perf.data -e rvtrace/$modes,context/ -- mixture wild forked"
ok $? "a recording of user and kernel"
check "damaged recording: flow is lost, said so, and goes on" recording_survives
done_testing
