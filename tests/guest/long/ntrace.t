#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# N-Trace with every option, in both modes: recordings of a small program equal the truth.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../ntrace-lib.sh"

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
	check "mode $mode: options that make the trace smaller are on by default" \
		smaller $mode-default $mode-none
done

done_testing
