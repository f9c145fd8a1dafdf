#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Data trace of E-Trace on a real kernel: each load and store of a program, address and value, is what
# the emulator did.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/accesses-lib.sh"

accesses_min=20000
data_trace both '{ print }' 'sort input'
check "each access of a program, on as many threads as there are processors" same_accesses "$dir/share/perf.data" '{ print }'
done_testing
