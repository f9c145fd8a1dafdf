#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# dump: its summary goes to standard error, and is a line of its own wherever that goes.
. "$(dirname "$0")/tap.sh"

dump=("$TOP/build/host/perf-rvtrace" dump --params "$TOP/tools/model/params/ntrace-rc7")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$TOP/build/host/rvt-asm" "$TOP/tools/model/params/ntrace-rc7" >"$work/few" <<-'END'
	ProgTraceSync SYNC=3 F-ADDR=0x80
	DirectBranch I-CNT=3
	ProgTraceCorrelation EVCODE=0 I-CNT=1
END
# More than what is written at once.
for _ in $(seq 1000); do cat "$work/few"; done >"$work/many"

"${dump[@]}" "$work/many" >"$work/both" 2>&1
summary="$work/many: 3000 messages, 0 idle bytes, 0 bytes skipped, 0 damaged"
is "the summary is the last line" "$summary" "$(tail -n 1 "$work/both")"
is "each message has a line" 3000 "$(grep -c '^[0-9a-f]*: ' "$work/both")"
"${dump[@]}" "$work/many" >"$work/stdout" 2>"$work/stderr"
is "it goes to standard error" "$summary" "$(cat "$work/stderr")"
is "and not to standard output" 3000 "$(wc -l <"$work/stdout")"

done_testing
