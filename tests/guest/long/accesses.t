#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Data trace of a program of 10^7 instructions, with each thing that an encoder can leave out and each
# kind of compression: every access is what the emulator did.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../accesses-lib.sh"

accesses_min=1000000
program="awk 'BEGIN { for (i = 0; i < 100000; i++) { s += i * i; a[i % 1000] = s } print s }'"
data_trace both '{ print }' "$program"
data_trace no-value '{ print $1, $2, $3, "-" }' "$program" 'options = data_no_value'
data_trace no-address '{ print $1, $2, "-", $4 }' "$program" 'options = data_no_address'
data_trace xor '{ print $1, $2, "-", $4 }' "$program" 'options = data_no_address' 'data_compression = xor'
data_trace difference '{ print $1, $2, "-", $4 }' "$program" 'options = data_no_address' 'data_compression = difference'
etrace_dialect=2.0.5
data_trace multi-access '{ print }' "$program" 'options = multi_access' 'dtype_width_p = 2'
done_testing
