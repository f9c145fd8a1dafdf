#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A million steps a group.
RVT_LONG=1 exec "$(dirname "$0")/../tandem-insns.t"
