#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Control Transfer Records in short; long/ctr.t has the rest.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ctr-lib.sh"

check "cross-compile the workload" workload transfers -static

layout 1.0
ctr_guest short testing '' '
	rec user riscv_ctr//u -c 500000
	rec both riscv_ctr/depth=64/ -c 500000
	perf-rvtrace inject -i user.data -o user.injected || exit 6
	perf script -i user.injected -F ip,brstack > brstack || exit 7'
ok $? "1.0: user and kernel transfers are recorded; the module unloads"
check "1.0: user: equals what was executed" equals user 10
check "1.0: user and kernel: equals what was executed, without the handler's own" equals both 10
check "1.0: stock perf script prints the branch stacks" \
	grep -q '0x[0-9a-f]*/0x[0-9a-f]*/P/-/-/0/CALL' "$dir/share/brstack"

layout draft
ctr_guest short stable overflow=100000 '
	rounds=6000 rec cycles riscv_ctr/trigger=1/ -c 100000
	rec ras riscv_ctr/ras=1/u -c 500000'
ok $? "draft 0.1.4: recorded at counter overflows, and call stacks"
check "draft 0.1.4: equals what was executed up to the overflow" equals cycles 10
check "draft 0.1.4: call stacks equal what was executed" equals ras 10

# The logs are large.
[ "$test_failed" -ne 0 ] || rm -rf "$TOP/build/guest/$test_name"-*/log
done_testing
