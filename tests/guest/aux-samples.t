#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Trace in samples: each has the last bytes before it, which are decoded to a piece of what was
# executed that ends where the sample was taken.
. "$(dirname "$0")/lib.sh"

# no_more NAME MOST: not more than so many bytes of trace, which each sample has, and no other trace.
no_more()
{
	local bytes

	bytes=$("$HOST/perf-rvtrace" stat -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" |
		awk '$1 == "all" { print $2 }')
	echo "$bytes bytes of trace, $(samples "$1" | wc -l) samples"
	[ "$bytes" -gt 0 ] && [ "$bytes" -le $(($2 * $(samples "$1" | wc -l))) ]
}

# samples NAME: CPU and address of each, as stock perf has them.
samples()
{
	sed -n 's/^ *//p' "$dir/share/$1.samples"
}

# instructions NAME: mnemonic and address of each that was decoded.
instructions()
{
	"$HOST/perf-rvtrace" script -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" \
		--insn-trace=disasm -F ip,insn,disasm 2>/dev/null | sed -n 's/ *\([0-9a-f]*\) .*\t\([a-z.]*\).*/\2 \1/p'
}

# ends_at_samples NAME: the flow that a record's bytes gave stopped at the address of a sample. Two
# kinds cannot: behind an indirect jump E-Trace's next packet has the address, and no packet tells
# of no instruction between an ecall and the sample.
ends_at_samples()
{
	local cpu address

	while read -r cpu address; do
		printf 'taken %x\necall %x\n' "0x$address" "$((0x$address - 4))"
	done < <(samples "$1") >"$dir/$1.known"
	instructions "$1" >>"$dir/$1.known"
	raw_pc "$dir/share/$1.data" 2>/dev/null | awk -v list="$dir/$1.known" '
		BEGIN { while ((getline line < list) > 0) { split(line, word, " "); known[word[1], word[2]] = 1 } }
		function ends()
		{
			if (pc == "")
				return
			n++
			if (("taken", pc) in known)
				hits++
			else if (("ret", last) in known || ("jr", last) in known || ("jalr", last) in known ||
				 ("ecall", pc) in known)
				unknown++
			else
				print "stops at " pc " behind " last
			pc = ""
		}
		/^# aux/ { ends() }
		/^# stop/ { pc = $6 }
		!/^#/ { last = $4 }
		END {
			ends()
			print hits " of " n " pieces stop at a sample, where no more can be known " unknown + 0
			exit n < 5 || hits < n / 2 || hits + unknown < n
		}'
}

# each_is_shown NAME
each_is_shown()
{
	local shown

	shown=$("$HOST/perf-rvtrace" script -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" \
		--itrace=c 2>/dev/null | grep -c ' sample: .* cpu-clock')
	echo "$shown samples are shown of $(samples "$1" | wc -l)"
	[ "$shown" -gt 0 ] && [ "$shown" -eq "$(samples "$1" | wc -l)" ]
}

# in_samples NAME MODEL-ARGS
in_samples()
{
	guest "$1" testing "$2" '
		insmod rvtrace.ko || exit 1
		seq 1 20000 | awk "{ print (\$1 * 7919) % 100003 }" > input
		perf-rvtrace record -o dense.data -e "{rvtrace//u,cpu-clock/freq=500,aux-sample-size=16384/u}" -- \
			sort -n input > sorted || exit 2
		perf-rvtrace record -o thin.data --aux-sample=2048 -e "{rvtrace//u,cpu-clock/freq=50/u}" -- \
			sort -n input > sorted || exit 3
		for file in dense thin; do
			perf script --no-itrace -F cpu,ip -i $file.data 2> perf.err | tr -d "[]" > $file.samples || exit 4
		done
		rmmod rvtrace || exit 5'
	ok $? "$1: programs are recorded"
	check "$1: thin: no more than the samples have" no_more thin 2048
	check "$1: thin: what was decoded is what was executed" \
		equals_truth "$dir/share/thin.data" --lossy --min 5000
	check "$1: thin: it ends where the samples are" ends_at_samples thin
	check "$1: thin: script shows each sample behind its flow" each_is_shown thin
	check "$1: dense: no more than the samples have" no_more dense 16384
	check "$1: dense: what was decoded is what was executed" \
		equals_truth "$dir/share/dense.data" --lossy --min 100000
	check "$1: no rule of the control interface was broken" no_violations
}

GUEST_TIMEOUT=900
in_samples N-Trace ''
hook_options="--params $TOP/tools/model/params/etrace-2.0 --discovery registers"
in_samples E-Trace "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"
done_testing
