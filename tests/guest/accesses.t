#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Data trace of E-Trace on a real kernel: each load and store of a program, each atomic operation and
# each access to a CSR, address, value and operand, is what the emulator did.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/accesses-lib.sh"

accesses_min=20000
workload accesses
data_trace both "$all" './accesses 100 sort input'
check "what the emulator did is what the program saw" truth_as_seen
check "each access of a program, on as many threads as there are processors" same_accesses "$dir/share/perf.data" "$all"
done_testing
