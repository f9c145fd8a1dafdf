#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Data trace of a program of 10^7 instructions with atomic operations and accesses to CSRs, with each
# thing that an encoder can leave out, each kind of compression, and requests apart from their data:
# every access is what the emulator did.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../accesses-lib.sh"

accesses_min=1000000
workload accesses
program="./accesses 100 awk 'BEGIN { for (i = 0; i < 40000; i++) { s += i * i; a[i % 1000] = s } print s }'"
data_trace both "$all" "$program"
check "what the emulator did is what the program saw" truth_as_seen
data_trace no-value "$no_value" "$program" 'options = data_no_value'
data_trace no-address "$no_address" "$program" 'options = data_no_address'
data_trace xor "$no_address" "$program" 'options = data_no_address' 'data_compression = xor'
data_trace difference "$no_address" "$program" 'options = data_no_address' 'data_compression = difference'
accesses_order=sort
data_trace split "$all" "$program" 'lrid_width_p = 3'
accesses_order=cat
etrace_dialect=2.0.5
data_trace multi-access "$all" "$program" 'options = multi_access'
data_trace multi-access-no-value "$no_value" "$program" 'options = multi_access, data_no_value'
data_trace multi-access-no-address "$no_address" "$program" 'options = multi_access, data_no_address'
accesses_order=sort
data_trace multi-access-split "$all" "$program" 'options = multi_access' 'lrid_width_p = 3'
done_testing
