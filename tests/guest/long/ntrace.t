#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# N-Trace with every option: recordings of a small program, many in one boot, equal the truth; bare
# dumps, whole, wrapped and damaged.
. "$(dirname "$0")/../lib.sh"

none=implicit_return=0,sequential_jump=0,repeated_history=0
every=implicit_return,sequential_jump,repeated_history,all_jumps,extend_address_msb
quiet=context=0,timestamp=0

# recordings: the list is "NAME EVENT PROGRAM..." lines; record_all makes NAME.data of each, in order.
record_all()
{
	printf 'insmod rvtrace.ko || exit 1\n'
	while read -r name event program; do
		[ -n "$name" ] || continue
		printf 'perf-rvtrace record -q -m ,8M -o %s.data -e %s -- %s > %s.out || { echo %s; exit 1; }\n' \
			"$name" "$event" "$program" "$name" "$name"
	done <<<"$1"
}

# all_equal LIST [--params FILE]: what is decoded of all, one behind the other, is the boot's whole truth.
all_equal()
{
	local list=$1
	shift
	set -o pipefail
	while read -r name event _; do
		[ -n "$name" ] || continue
		echo "# recording $name"
		# Without context nobody wrote scontext, and the truth has an old one.
		raw_pc "$dir/share/$name.data" "$@" |
			case $event in *context=0*) sed 's/^\([0-9]* \)[^ ]*/\1-/' ;; *) cat ;; esac || return
	done <<<"$list" | "$HOST/rvt-truth-diff" --min 1000000 "$dir/truth"
}

# bits NAME: bits for each instruction, of a recording.
bits()
{
	"$HOST/perf-rvtrace" stat -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" |
		awk '$1 == "all" { print $4 }'
}

check "cross-compile the program" workload mixture -static

# Every option alone, and all of them.
options=
for mode in 3 6; do
	base=mode=$mode,$none
	options+="
$mode-none rvtrace/$base/u mixture wild
$mode-bare rvtrace/$base,$quiet/u mixture wild
$mode-counter rvtrace/$base,implicit_return,implicit_return_mode=1/u mixture
$mode-partial rvtrace/$base,implicit_return,implicit_return_mode=2/u mixture wild
$mode-full rvtrace/$base,implicit_return,implicit_return_mode=3/u mixture wild
$mode-sequential rvtrace/$base,sequential_jump/u mixture wild
$mode-repeated rvtrace/$base,repeated_history/u mixture wild
$mode-jumps rvtrace/$base,all_jumps/u mixture wild
$mode-msb rvtrace/$base,extend_address_msb/u mixture wild
$mode-all rvtrace/mode=$mode,$every/u mixture wild forked
$mode-all-bare rvtrace/mode=$mode,$every,$quiet/u mixture wild
$mode-all-time rvtrace/mode=$mode,$every,context=0/u mixture wild
$mode-all-context rvtrace/mode=$mode,$every,timestamp=0/u mixture wild
$mode-default rvtrace/mode=$mode/u mixture wild
$mode-kernel rvtrace/mode=$mode,$every/ mixture wild forked"
	for sync in 1 2 3; do
		options+="
$mode-sync-$sync rvtrace/mode=$mode,$every,syncmode=$sync,syncmax=1/u mixture wild"
	done
done
GUEST_TIMEOUT=600 guest options testing '' "$(record_all "$options")"
ok $? "recordings in both modes, with every option alone and with all"
check "every option: what was decoded is what the encoder saw" all_equal "$options"
check "every option: no rule of the control interface was broken" no_violations

# smaller NAME THAN: at most 4/5 of the trace.
smaller()
{
	echo "$1: $(bits "$1"), $2: $(bits "$2") bits for each instruction"
	awk -v a="$(bits "$1")" -v b="$(bits "$2")" 'BEGIN { exit !(a > 0 && a <= b * 4 / 5) }'
}

for mode in 3 6; do
	check "mode $mode: options that make the trace smaller are on by default" smaller $mode-default $mode-none
done

# Counters of few bits, a return stack of two entries, repeated branches, time stamps by XOR: in both
# revisions. The mode is found out.
small=icnt-bits=8,hist-bits=12,hrepeat-bits=6,bcnt-bits=8,stack-depth=2,timestamp=xor
overflows="3-all rvtrace/mode=3,$every/u mixture wild
6-all rvtrace/mode=6,$every/u mixture wild forked
6-sync rvtrace/mode=6,$every,syncmode=3,syncmax=2/u mixture wild
6-kernel rvtrace/mode=6,$every/ mixture wild"
for dialect in rc7 1.0; do
	GUEST_TIMEOUT=600 guest "small-$dialect" testing "dialect=$dialect,$small" "$(record_all "$overflows")"
	ok $? "$dialect, small counters: recordings"
	cat >"$dir/params" <<-END
		protocol = ntrace
		dialect = ${dialect/rc7/1.0.0_rc7}
		mode = auto
		timestamp = xor
		options = ${every//,/, }
	END
	check "$dialect, small counters: what was decoded is what the encoder saw" \
		all_equal "$overflows" --params "$dir/params"
done

# Hardware that lacks something: no history repetition, no all-jumps, call counter only, one mode.
guest lacking testing 'warl-features=0xffff047f,modes=6,sync-modes=1' 'insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -o perf.data -e rvtrace/extend_address_msb/u -- mixture wild || exit 2
	refused() { perf-rvtrace record -o none.data -e rvtrace/$1/u -- mixture > $2 2>&1 && exit 3; return 0; }
	refused all_jumps feature; refused repeated_history,sequential_jump two; refused mode=3 mode
	refused syncmode=2 syncmode; refused implicit_return,implicit_return_mode=3 return
	refused sideways term
	dmesg | grep refused > log; true'
ok $? "hardware that lacks options: a recording without them, and some are refused"
check "lacking options: what was decoded is what the encoder saw" equals_truth "$dir/share/perf.data" --min 10000
check "lacking options: the recording says what was in force" sh -c "
	grep -a '^options = ' '$dir/share/perf.data' | sort -u | grep -x 'options = .*' | grep extend_address_msb |
		grep sequential_jump | grep -v 'implicit_return\|repeated_history\|all_jumps'"
check "option refused: named, with those there are" \
	grep "no 'all_jumps'; it has: .*sequential_jump" "$dir/share/feature"
check "option refused: the one that there is not is named" grep "no 'repeated_history'" "$dir/share/two"
check "mode refused: valid ones are named" grep 'no mode=3; valid values: 6$' "$dir/share/mode"
check "syncmode refused: valid ones are named" grep 'no syncmode=2; valid values: 1$' "$dir/share/syncmode"
check "implicit_return_mode refused: valid ones are named" \
	grep 'no implicit_return_mode=3; valid values: 1$' "$dir/share/return"
check "unknown term: valid ones are named" grep "'sideways'; valid terms: .*all_jumps" "$dir/share/term"
check "the kernel log names the option, too" grep 'no all_jumps' "$dir/share/log"
check "lacking options: no rule of the control interface was broken" no_violations

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
		[ "$(wc -l <"$dir/pc.$hart")" -gt 50000 ] || return
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
	done
	echo "$reported of 10 reported"
	[ $reported -ge 9 ]
}

for kind in cut end zeros noise flips; do
	check "damaged dump, $kind: decoding ends by itself, is reported, invents no address" survives $kind
done

done_testing
