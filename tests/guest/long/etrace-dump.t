#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Bare dumps of E-Trace, of two harts in one stream: whole, wrapped and damaged. Damaged recordings.
. "$(dirname "$0")/../lib.sh"

all=sequential_jump,implicit_return,implicit_exception,branch_prediction,jump_target_cache,context
rv=$HOST/perf-rvtrace

check "cross-compile the program" workload mixture -static

# decode STATUS [options] FILE: with this exit status; what it prints is then in $dir/out and $dir/err.
decode()
{
	local want=$1 status
	shift
	timeout 60 "$rv" decode --params "$dir/params" --image "$dir/share/mixture" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq "$want" ] && return
	echo "exit status $status, not $want"
	head -n 5 "$dir/err"
	return 1
}

# both_harts [options] FILE: each hart's instructions, with its source before them.
both_harts()
{
	local hart

	decode 0 "$@" || return
	[ ! -s "$dir/err" ] || { cat "$dir/err"; return 1; }
	for hart in 0 1; do
		[ "$(wc -l <"$dir/pc.$hart")" -gt 50000 ] || return
		awk -v hart=$hart '$1 == hart { print $2 }' "$dir/out" | cmp - "$dir/pc.$hart" || return
	done
	! grep -vqE '^[01] [0-9a-f]+$' "$dir/out"
}

# What is left when the ring was overwritten: the end is right. Seven bytes one behind the other: most lie inside packets,
# which is not always to be seen, but at some of them.
cut_anywhere()
{
	local hart from status reported=0

	for from in 1001 1002 1003 1004 1005 1006 1007; do
		tail -c +$from "$dump" >"$dir/tail" || return
		timeout 60 "$rv" decode --params "$dir/params" --image "$dir/share/mixture" "$dir/tail" >"$dir/out" 2>"$dir/err"
		status=$?
		[ $status -le 1 ] || { echo "from byte $from: exit status $status"; return 1; }
		reported=$((reported + status))
		if grep -vE "^$dir/tail: offset 0x[0-9a-f]+: ." "$dir/err"; then
			return 1
		fi
		for hart in 0 1; do
			awk -v hart=$hart '$1 == hart { print $2 }' "$dir/out" >"$dir/out.$hart"
			[ "$(wc -l <"$dir/out.$hart")" -gt 10000 ] ||
				{ echo "from byte $from: $(wc -l <"$dir/out.$hart") instructions of hart $hart"; return 1; }
			tail -n 10000 "$dir/out.$hart" | cmp - <(tail -n 10000 "$dir/pc.$hart") ||
				{ echo "from byte $from: hart $hart"; return 1; }
		done
	done
	echo "$reported of 7 reported"
	[ $reported -gt 0 ]
}

wrapped()
{
	(tail -c +5001 "$dump"; head -c 5000 "$dump") >"$dir/ring"
	both_harts --wrapped-at $(($(stat -c %s "$dump") - 5000)) "$dir/ring"
}

# dumped: the dump command shows a packet of every kind that is in there, and ends well.
dumped()
{
	local kind

	"$rv" dump --params "$dir/params" "$dump" >"$dir/out" 2>"$dir/err" || return
	for kind in sync-start sync-support branch-map branch-count jump-target; do
		grep -q " $kind" "$dir/out" || { echo "no $kind"; return 1; }
	done
}

# damage FILE KIND: a damaged copy. RANDOM has a seed.
damage()
{
	local size at i byte

	size=$(stat -c %s "$1")
	cp "$1" "$dir/damaged"
	at=$((4000 + (RANDOM << 15 | RANDOM) % (size - 6000)))
	case $2 in
	cut) (head -c $at "$1"; tail -c +$((at + 2 + RANDOM % 500)) "$1") >"$dir/damaged" ;;
	end) head -c $at "$1" >"$dir/damaged" ;;
	zeros) head -c $((8 + RANDOM % 500)) /dev/zero | dd of="$dir/damaged" bs=1 seek=$at conv=notrunc status=none ;;
	noise)
		for ((i = 8 + RANDOM % 200; i > 0; i--)); do
			printf -v byte '\\x%02x' $((RANDOM & 255))
			printf %b "$byte"
		done | dd of="$dir/damaged" bs=1 seek=$at conv=notrunc status=none ;;
	flips)
		for ((i = 0; i < 10; i++)); do
			at=$(((RANDOM << 15 | RANDOM) % size))
			byte=$(od -An -tu1 -j $at -N 1 "$1")
			printf -v byte '\\x%02x' $((byte ^ 1 << RANDOM % 8))
			printf %b "$byte" | dd of="$dir/damaged" bs=1 seek=$at conv=notrunc status=none
		done ;;
	esac
}

# in_code: no address outside the program's executable segment.
in_code()
{
	local lo hi
	# shellcheck disable=SC2046
	set -- $("$TOP/tools/lab/cross/riscv64-linux-gnu-readelf" -lW "$dir/share/mixture" | awk '/LOAD.* R E / { print $3, $5 }')
	lo=$(printf %x "$1") hi=$(printf %x $(($1 + $2)))
	awk -v lo="$lo" -v hi="$hi" '
		function below(a, b) { return length(a) < length(b) || length(a) == length(b) && a "" < b "" }
		below($NF, lo) || !below($NF, hi) || $NF !~ /[02468ace]$/ { print; bad = 1 } END { exit bad }' "$dir/out"
}

# survives KIND: ten damaged copies; decoding ends in time, says where, and prints nothing impossible.
survives()
{
	local seed reported=0
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		RANDOM=$seed
		damage "$dump" "$1"
		timeout 20 "$rv" decode --params "$dir/params" --image "$dir/share/mixture" "$dir/damaged" >"$dir/out" 2>"$dir/err"
		case $? in
		0) [ ! -s "$dir/err" ] || return ;;
		1) reported=$((reported + 1)) ;;
		*) echo "$1, seed $seed: exit status $?"; return 1 ;;
		esac
		! grep -vE "^$dir/damaged: offset 0x[0-9a-f]+: ." "$dir/err" || return
		[ "$(wc -l <"$dir/out")" -gt 1000 ] || return
		in_code || return
	done
	# A dump that is cut between two packets is a whole one; zeros may stand where packets were.
	echo "$reported of 10 reported"
	[ $reported -ge 7 ]
}

# places FILE: where in the file some trap packets with timestamps lie, which are not like each other.
places()
{
	local bytes

	"$rv" dump "$1" 2>/dev/null | awk '/ sync-trap / && ++n % 50 == 25 {
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
		printf '\377\000\125\252\013' | dd of="$dir/damaged.data" bs=1 seek="$at" conv=notrunc status=none
		n=$((n + 1))
	done
	[ $n -ge 4 ] || { echo "$n places"; return 1; }
	whole=$(raw_pc "$dir/share/perf.data" | grep -vc '^#')
	raw_pc "$dir/damaged.data" >"$dir/out" 2>"$dir/err"
	[ $? -le 1 ] || return
	gaps=$(grep -c '^# lost .*offset' "$dir/out")
	rest=$(grep -vc '^#' "$dir/out")
	echo "$n places, $gaps gaps, $rest of $whole instructions"
	[ "$gaps" -ge "$n" ] && [ "$rest" -gt $((whole / 2)) ] && ! grep -vqE '^#|[02468ace]$' "$dir/out"
}

for dialect in 2.0 0.029; do
	probe=$TOP/build/guest/etrace-probe
	rm -rf "$probe" && mkdir -p "$probe"
	model=$TOP/tools/model/params/etrace-$dialect
	hook_options="--topology pib --params $model"
	guest "$dialect" testing "topology=pib,capture=$probe,etrace=$model,formats=etrace" "insmod rvtrace.ko || exit 1
		perf-rvtrace record -q -o a.data -e rvtrace/$all/u -- mixture forked || exit 2
		perf-rvtrace record -q -o b.data -e rvtrace/context/u -- mixture forked || exit 3
		cat /sys/bus/rvtrace/devices/encoder-0/src_bits > src_bits"
	ok $? "$dialect: a probe at the pins sees two harts"
	dump=$probe/pib.0
	(cat "$model"; echo "srcid_bits = $(cat "$dir/share/src_bits")") >"$dir/params"
	for hart in 0 1; do
		"$HOST/rvt-truth" --pc --traced "$dir/truth/truth.$hart" | sed 's/^0*//' >"$dir/pc.$hart"
	done
	check "$dialect: instructions of both harts equal the truth" both_harts "$dump"
	check "$dialect: the same with two jobs" both_harts --jobs 2 "$dump"
	check "$dialect: begins inside a packet" cut_anywhere
	check "$dialect: wrapped" wrapped
	check "$dialect: dump shows every kind of packet" dumped
	for kind in cut end zeros noise flips; do
		check "$dialect: damaged, $kind: decoding ends by itself, is reported, invents no address" survives $kind
	done
	check "$dialect: no rule of the control interface was broken" no_violations
done

hook_options="--params $TOP/tools/model/params/etrace-2.0"
guest recording testing "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace" "insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -o perf.data -e rvtrace/$all/ -- mixture wild forked"
ok $? "a recording of user and kernel"
check "damaged recording: flow is lost, said so, and goes on" recording_survives
done_testing
