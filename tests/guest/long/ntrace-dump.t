#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Bare dumps of N-Trace: what a probe saw of two harts; whole, wrapped, cut and damaged.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../ntrace-lib.sh"
. "$(dirname "$0")/../dump-lib.sh"

check "cross-compile the program" workload mixture -static

# A bare dump: what a probe at the pins saw of both harts, in both modes.
hook_options='--topology pib'
probe=$TOP/build/guest/ntrace-probe
rm -rf "$probe" && mkdir -p "$probe"
guest dump stable "topology=pib,capture=$probe" "insmod rvtrace.ko || exit 1
	perf-rvtrace record -q -o a.data -e rvtrace/mode=6,$every/u -- mixture forked || exit 2
	perf-rvtrace record -q -o b.data -e rvtrace/mode=3,$every/u -- mixture forked || exit 3
	cat /sys/bus/rvtrace/devices/encoder-0/src_bits > src_bits"
ok $? "a probe at the pins sees two harts"
hook_options=
dump=$probe/pib.0
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
truth_of_dump

one_hart()
{
	decode 0 --src 1 "$dump" && cmp "$dir/out" "$dir/pc.1"
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
check "bare dump: unknown --print" unusable 'pc, insn, block, edge, mark, data, packet, none' \
	"$rv" decode --params "$dir/params" --image "$program" --print=pcs "$dump"
check "parameters: unknown key" unusable 'src_bits' with_params 'srcbits = 3'
check "parameters: unknown value" unusable 'btm' with_params 'mode = fast'
check "parameters: unknown option" unusable 'implicit_return' with_params 'options = everything'

for kind in cut end zeros noise flips; do
	check "damaged dump, $kind: decoding ends by itself, it is reported if it can be seen, and local" survives $kind
done

done_testing
