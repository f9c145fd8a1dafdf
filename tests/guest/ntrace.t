#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# N-Trace with every option: recordings of a small program, many in one boot, equal the truth; bare
# dumps, whole, wrapped and damaged.
. "$(dirname "$0")/lib.sh"

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
guest options testing '' "$(record_all "$options")"
ok $? "recordings in both modes, with every option alone and with all"
check "every option: what was decoded is what the encoder saw" all_equal "$options"
check "every option: no rule of the control interface was broken" no_violations

done_testing
