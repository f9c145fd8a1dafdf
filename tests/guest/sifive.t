#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Recordings of encoders as SiFive had them before N-Trace 1.0: counts of branches, time stamps by
# XOR, counted returns. What is decoded is what was executed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ntrace-lib.sh"

check "cross-compile the program" workload mixture -static

# Their counters do not survive what leaves the stack otherwise than by returns: `wild` does.
recordings="3-branches rvtrace/mode=3,implicit_return=0/u mixture wild
6-history rvtrace/mode=6,implicit_return=0/u mixture wild forked
6-counts rvtrace/mode=6,repeated_history,sequential_jump,implicit_return=0/u mixture wild
6-returns rvtrace/mode=6,repeated_history,implicit_return,implicit_return_mode=1/u mixture
6-kernel rvtrace/mode=6,repeated_history,implicit_return=0/ mixture wild"

hook_options="--params $TOP/tools/model/params/ntrace-sifive"
GUEST_TIMEOUT=600 guest sifive stable \
	dialect=sifive,timestamp=xor,bcnt-bits=0,stack-depth=1023,icnt-bits=12,hist-bits=20 \
	"$(record_all "$recordings")"
ok $? "recordings"
check "they say so" grep -aqx 'dialect = sifive' "$dir/share/6-counts.data"
check "what was decoded is what the encoder saw" all_equal "$recordings"
check "no rule of the control interface was broken" no_violations

# The optimisations were used.
"$HOST/perf-rvtrace" dump "$dir/share/6-counts.data" 2>/dev/null | grep -o 'RCODE=[0-9]*(branches[^)]*)' |
	sort | uniq -c >"$dir/counts"
grep -q 'RCODE=9(branches taken)' "$dir/counts"
ok_or_show $? "branches were counted" "$dir/counts"
[ "$("$HOST/perf-rvtrace" dump "$dir/share/6-returns.data" 2>/dev/null | grep -c IndirectBranchHist)" -lt \
	"$("$HOST/perf-rvtrace" dump "$dir/share/6-history.data" 2>/dev/null | grep -c IndirectBranchHist)" ]
ok $? "returns were counted"
done_testing
