#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver's selftests, as they run on a board, on both kernels.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/driver-lib.sh"

# Where the model's encoders have their trigger inputs, and a way for a program to get at it
selftest_before='export RVTRACE_TRIGGER_REGISTER=0xe00'
lab_options='--append iomem=relaxed'
for kernel in stable testing; do
	selftests $kernel $kernel user-io=on basic modes switches filters safety life copies
done
hook_options='--topology funnel'
selftests funnel testing topology=funnel shared
rm -rf "$guest_bin"
done_testing
