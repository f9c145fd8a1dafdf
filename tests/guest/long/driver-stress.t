#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver in hard times, on both kernels: 10^4 starts and stops, recorders side by side, harts
# that come and go, forks, sleep. KERNELS=testing: on that only; RVTRACE_CYCLES: how many starts.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

selftest_before="export RVTRACE_CYCLES=${RVTRACE_CYCLES:-10000}"
for kernel in ${KERNELS:-stable testing}; do
	GUEST_TIMEOUT=${GUEST_TIMEOUT:-900} selftests $kernel $kernel '' stress suspend
done
rm -rf "$guest_bin"
done_testing
