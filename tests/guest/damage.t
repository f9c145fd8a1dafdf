#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Loss is flagged, shown and survived: nothing is printed that was not executed.
. "$(dirname "$0")/lib.sh"

insmod='insmod rvtrace.ko || exit 1'

# gaps FILE COUNT: script reports at least COUNT located gaps.
gaps()
{
	local n
	n=$(raw_pc "$1" 2>/dev/null | grep -c '^# lost .*offset')
	echo "$n gaps"
	[ "$n" -ge "$2" ]
}

# resumes FILE: there is flow after the first gap.
resumes()
{
	# 1: something was damaged, which depends on what the bytes hit
	{ raw_pc "$1" 2>/dev/null || [ $? -eq 1 ]; } |
		awk '/^# lost/ { lost = 1; next } !/^#/ && lost { n++ } END { exit !(n > 1000) }'
}

# flagged FILE: an AUX record has a flag that says that data is missing.
flagged()
{
	"$HOST/perf-rvtrace" script -i "$1" \
		--symfs "$dir/share:$("$LAB" path guest)" 2>&1 >/dev/null |
		grep 'trace lost while recording'
}

# A FIFO of 96 bytes that is emptied slowly: the encoder drops messages again and again.
guest overflow testing 'fifo=96,drain=4' "$insmod
	perf-rvtrace record -o perf.data -e rvtrace//u -- sort -r run > /dev/null"
ok $? "overflow: the program is recorded although the encoder's FIFO overflows"
check "overflow: the truth knows of losses" sh -c "for hart in 0 1; do
	'$HOST/rvt-truth' '$dir/truth/truth.'\$hart; done | grep -q '^lost'"
check "overflow: the decoder shows located gaps" gaps "$dir/share/perf.data" 3
check "overflow: flow goes on after a gap" resumes "$dir/share/perf.data"
check "overflow: everything decoded was executed, in order" \
	equals_truth "$dir/share/perf.data" --lossy --min 10000
check "overflow: no violation" no_violations

# An AUX buffer of 64 KiB and nobody to empty it for a while: the driver runs out of room.
guest small testing '' "$insmod
	perf-rvtrace record -m ,64K -o perf.data -e rvtrace//u -- sh -c '
		kill -STOP \$PPID; gzip -c perf-rvtrace > out.gz & sleep 4; kill -CONT \$PPID; wait' || exit 1
	gzip -t out.gz"
ok $? "full buffer: the program is recorded although the recorder slept"
check "full buffer: the loss is flagged" flagged "$dir/share/perf.data"
check "full buffer: everything decoded was executed, in order" \
	equals_truth "$dir/share/perf.data" --lossy --min 10000
check "full buffer: no violation" no_violations

# Damage of the file itself: bytes of the trace are overwritten, at places spread over the file.
damaged=$dir/share/damaged.data
cp "$dir/share/perf.data" "$damaged"
size=$(stat -c %s "$damaged")
for i in 3 4 5 6 7 8; do
	printf '\377\000\125\252\013' |
		dd of="$damaged" bs=1 seek=$((size * i / 10)) conv=notrunc status=none
done
# in_code: no address outside of what is executable: user code and libraries, 2-byte aligned.
in_code()
{
	# 1: something was damaged, which depends on what the bytes hit
	{ raw_pc "$1" 2>/dev/null || [ $? -eq 1 ]; } |
		awk '!/^#/ && ($4 !~ /^[0-9a-f]*[02468ace]$/) { print; bad = 1 } END { exit bad }'
}
check "damaged file: decoding ends by itself, no impossible address" in_code "$damaged"

done_testing
