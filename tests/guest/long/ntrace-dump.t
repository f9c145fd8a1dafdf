#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Bare dumps of N-Trace: what a probe saw of two harts; whole, wrapped, cut and damaged.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../ntrace-lib.sh"

check "cross-compile the program" workload mixture -static

# A bare dump: what a probe at the pins saw of both harts, in both modes.
hook_options='--topology pib'
probe=$TOP/build/guest/ntrace-probe
rm -rf "$probe" && mkdir -p "$probe"
guest dump testing "topology=pib,capture=$probe" "insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -o a.data -e rvtrace/mode=6,$every/u -- mixture forked || exit 2
	perf-rvtrace record -q -o b.data -e rvtrace/mode=3,$every/u -- mixture forked || exit 3
	cat /sys/bus/rvtrace/devices/encoder-0/src_bits > src_bits"
ok $? "a probe at the pins sees two harts"
hook_options=
dump=$probe/pib.0
rv=$HOST/perf-rvtrace
program=$dir/share/mixture
cat >"$dir/params" <<-END
	protocol = ntrace	# what no dump says by itself
	dialect = 1.0
	mode = auto
	xlen = 64
	src_bits = $(cat "$dir/share/src_bits")
	timestamp = delta
	options = ${every//,/, }
END
for hart in 0 1; do
	"$HOST/rvt-truth" --pc --traced "$dir/truth/truth.$hart" | sed 's/^0*//' >"$dir/pc.$hart"
done

# decode STATUS [options] FILE: with this exit status; what it prints is then in $dir/out and $dir/err.
decode()
{
	local want=$1 status
	shift
	timeout 60 "$rv" decode --params "$dir/params" --image "$program" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq "$want" ] && return
	echo "exit status $status, not $want"
	head -n 5 "$dir/err"
	return 1
}

# both_harts [options] FILE: each hart's instructions, with its source before them.
both_harts()
{
	decode 0 "$@" || return
	[ ! -s "$dir/err" ] || { cat "$dir/err"; return 1; }
	for hart in 0 1; do
		[ "$(wc -l <"$dir/pc.$hart")" -gt 20000 ] || { echo "hart $hart did next to nothing"; return 1; }
		awk -v hart=$hart '$1 == hart { print $2 }' "$dir/out" | cmp - "$dir/pc.$hart" || return
	done
	! grep -vqE '^[01] [0-9a-f]+$' "$dir/out"
}

one_hart()
{
	decode 0 --src 1 "$dump" && cmp "$dir/out" "$dir/pc.1"
}

# What is left when the ring was overwritten: reported, and the rest is right to the end.
cut_anywhere()
{
	tail -c +1001 "$dump" >"$dir/tail" || return
	decode 1 "$dir/tail" || return
	grep -qE "^$dir/tail: offset 0x[0-9a-f]+: ." "$dir/err" || return
	for hart in 0 1; do
		awk -v hart=$hart '$1 == hart { print $2 }' "$dir/out" >"$dir/out.$hart"
		[ "$(wc -l <"$dir/out.$hart")" -gt 10000 ] || return
		tail -n 10000 "$dir/out.$hart" | cmp - <(tail -n 10000 "$dir/pc.$hart") || return
	done
}

wrapped()
{
	(tail -c +5001 "$dump"; head -c 5000 "$dump") >"$dir/ring"
	both_harts --wrapped-at $(($(stat -c %s "$dump") - 5000)) "$dir/ring"
}

summary()
{
	decode 0 --print=none "$dump" && [ ! -s "$dir/out" ] &&
		grep "$(cat "$dir"/pc.? | wc -l) instructions.* 2 sources.* 0 gaps" "$dir/err"
}

# unusable TEXT COMMAND...: exit status 2, nothing on standard output, and a message with this text.
unusable()
{
	local text=$1 status
	shift
	"$@" >"$dir/out" 2>"$dir/err"
	status=$?
	cat "$dir/err"
	[ $status -eq 2 ] && [ ! -s "$dir/out" ] && grep -q -- "$text" "$dir/err"
}

# with_params LINE: decode with one more line of parameters.
with_params()
{
	(cat "$dir/params"; echo "$1") >"$dir/params.bad"
	"$rv" decode --params "$dir/params.bad" --image "$program" "$dump"
}

check "bare dump: instructions of both harts equal the truth" both_harts "$dump"
check "bare dump: the same with two jobs" both_harts --jobs 2 "$dump"
check "bare dump: one source by itself" one_hart
check "bare dump: begins inside a message" cut_anywhere
check "bare dump: wrapped" wrapped
check "bare dump: --print=none prints a summary only" summary
check "bare dump: no such file" unusable 'No such file' \
	"$rv" decode --params "$dir/params" --image "$program" "$dir/absent"
check "bare dump: no parameters" unusable '--params' "$rv" decode --image "$program" "$dump"
check "bare dump: no image" unusable '--image' "$rv" decode --params "$dir/params" "$dump"
check "bare dump: an image that is none" unusable 'ELF' \
	"$rv" decode --params "$dir/params" --image "$dir/params" "$dump"
check "bare dump: unknown --print" unusable 'pc, insn, block, edge, packet, none' \
	"$rv" decode --params "$dir/params" --image "$program" --print=pcs "$dump"
check "parameters: unknown key" unusable 'src_bits' with_params 'srcbits = 3'
check "parameters: unknown value" unusable 'btm' with_params 'mode = fast'
check "parameters: unknown option" unusable 'implicit_return' with_params 'options = everything'

# Damage. overwrite OFFSET: standard input goes there.
overwrite()
{
	dd of="$dir/damaged" bs=1 seek="$1" conv=notrunc status=none
}

# bytes N: that many bytes of noise.
bytes()
{
	local i byte
	for ((i = 0; i < $1; i++)); do
		printf -v byte '\\x%02x' $((RANDOM & 255))
		printf %b "$byte"
	done
}

# damage KIND: a damaged copy of the dump. RANDOM has a seed.
damage()
{
	local size at i byte

	size=$(stat -c %s "$dump")
	cp "$dump" "$dir/damaged"
	at=$((4000 + (RANDOM << 15 | RANDOM) % (size - 6000)))
	case $1 in
	cut) (head -c $at "$dump"; tail -c +$((at + 2 + RANDOM % 500)) "$dump") >"$dir/damaged" ;;
	end) head -c $at "$dump" >"$dir/damaged" ;;
	zeros) head -c $((8 + RANDOM % 500)) /dev/zero | overwrite $at ;;
	noise) bytes $((8 + RANDOM % 200)) | overwrite $at ;;
	flips)
		for ((i = 0; i < 10; i++)); do
			at=$(((RANDOM << 15 | RANDOM) % size))
			byte=$(od -An -tu1 -j $at -N 1 "$dump")
			printf -v byte '\\x%02x' $((byte ^ 1 << RANDOM % 8))
			printf %b "$byte" | overwrite $at
		done ;;
	esac
}

# in_code: no address outside the program's executable segment.
in_code()
{
	local lo hi
	# shellcheck disable=SC2046
	set -- $("$TOP/tools/lab/cross/riscv64-linux-gnu-readelf" -lW "$program" | awk '/LOAD.* R E / { print $3, $5 }')
	lo=$(printf %x "$1") hi=$(printf %x $(($1 + $2)))
	awk -v lo="$lo" -v hi="$hi" '
		function below(a, b) { return length(a) < length(b) || length(a) == length(b) && a "" < b "" }
		below($NF, lo) || !below($NF, hi) || $NF !~ /[02468ace]$/ { print; bad = 1 } END { exit bad }' "$dir/out"
}

# survives KIND: ten damaged copies; decoding ends, says where, and prints nothing impossible.
survives()
{
	local seed reported=0
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		RANDOM=$seed
		damage "$1"
		timeout 60 "$rv" decode --params "$dir/params" --image "$program" "$dir/damaged" >"$dir/out" 2>"$dir/err"
		case $? in
		0) [ ! -s "$dir/err" ] || return ;;
		1) reported=$((reported + 1)) ;;
		*) echo "$1, seed $seed: exit status $?"; return 1 ;;
		esac
		! grep -vE "^$dir/damaged: offset 0x[0-9a-f]+: ." "$dir/err" || return
		[ "$(wc -l <"$dir/out")" -gt 1000 ] || return
		in_code || return
		# The end of a message, or an idle byte: nobody can see that the dump was longer.
		[ "$1" != end ] || [ $(($(tail -c 1 "$dir/damaged" | od -An -tu1) & 3)) -ne 3 ] ||
			reported=$((reported + 1))
	done
	echo "$reported of 10 reported"
	[ $reported -ge 9 ]
}

for kind in cut end zeros noise flips; do
	check "damaged dump, $kind: decoding ends by itself, is reported, invents no address" survives $kind
done

done_testing
