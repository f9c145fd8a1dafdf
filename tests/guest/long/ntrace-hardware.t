#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# N-Trace of other hardware: counters of few bits, the older revision, time stamps by XOR, options
# that are missing.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../ntrace-lib.sh"

check "cross-compile the program" workload mixture -static

# Counters of few bits, a return stack of two entries, repeated branches: in both revisions, and
# with time stamps by XOR. The devicetree tells the driver what no register does, and so the
# decoder.
small=icnt-bits=8,hist-bits=12,hrepeat-bits=6,bcnt-bits=8,stack-depth=2
overflows="3-all rvtrace/mode=3,$every/u mixture wild
6-all rvtrace/mode=6,$every/u mixture wild forked
6-sync rvtrace/mode=6,$every,syncmode=3,syncmax=2/u mixture wild
6-kernel rvtrace/mode=6,$every/ mixture wild"

# hardware NAME KERNEL MODEL-ARGS TEXT: recordings from such hardware; TEXT: what their metadata
# must say.
hardware()
{
	local name=$1
	hook_options="--params $TOP/tools/model/params/ntrace-$name"
	GUEST_TIMEOUT=600 guest "$name" "$2" "$3,$small" "$(record_all "$overflows")"
	ok $? "$name, small counters: recordings"
	hook_options=
	check "$name: the recordings say so" grep -aqx "$4" "$dir/share/6-all.data"
	check "$name, small counters: what was decoded is what the encoder saw" \
		all_equal "$overflows"
	check "$name: no rule of the control interface was broken" no_violations
}

hardware rc7 stable dialect=rc7 'dialect = 1.0.0_rc7'
hardware xor testing timestamp=xor 'timestamp = xor'
hardware rc7-xor stable dialect=rc7,timestamp=xor 'timestamp = xor'

# With parameters given by hand, and a mode that the decoder finds out.
cat >"$dir/params" <<-END
	protocol = ntrace
	dialect = 1.0.0_rc7
	mode = auto
	timestamp = xor
	options = ${every//,/, }
END
check "rc7-xor: the same with a parameter file" all_equal "$overflows" --params "$dir/params"

# Hardware that lacks something: no history repetition, no all-jumps, call counter only, one mode.
guest lacking testing 'warl-features=0xffff047f,modes=6,sync-modes=1' 'insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -o perf.data -e rvtrace/extend_address_msb/u -- mixture wild || exit 2
	refused() { perf-rvtrace record -o none.data -e rvtrace/$1/u -- mixture > $2 2>&1 && exit 3; return 0; }
	refused all_jumps feature; refused repeated_history,sequential_jump two; refused mode=3 mode
	refused syncmode=2 syncmode; refused implicit_return,implicit_return_mode=3 return
	refused sideways term
	dmesg | grep refused > log; true'
ok $? "hardware that lacks options: a recording without them, and some are refused"
check "lacking options: what was decoded is what the encoder saw" \
	equals_truth "$dir/share/perf.data" --min 10000
check "lacking options: the recording says what was in force" sh -c "
	grep -a '^options = ' '$dir/share/perf.data' | sort -u | grep -x 'options = .*' | grep extend_address_msb |
		grep sequential_jump | grep -v 'implicit_return\|repeated_history\|all_jumps'"
check "option refused: named, with those there are" \
	grep "no 'all_jumps'; it has: .*sequential_jump" "$dir/share/feature"
check "option refused: the one that there is not is named" \
	grep "no 'repeated_history'" "$dir/share/two"
check "mode refused: valid ones are named" grep 'no mode=3; valid values: 6$' "$dir/share/mode"
check "syncmode refused: valid ones are named" \
	grep 'no syncmode=2; valid values: 1$' "$dir/share/syncmode"
check "implicit_return_mode refused: valid ones are named" \
	grep 'no implicit_return_mode=3; valid values: 1$' "$dir/share/return"
check "unknown term: valid ones are named" \
	grep "'sideways'; valid terms: .*all_jumps" "$dir/share/term"
check "the kernel log names the option, too" grep 'no all_jumps' "$dir/share/log"
check "lacking options: no rule of the control interface was broken" no_violations

done_testing
