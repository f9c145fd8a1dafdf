#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The lab's own tests: kernels, exit status, the shared folder, failures, two at once.
exec "$(dirname "$0")/../../../tools/lab/selftest"
