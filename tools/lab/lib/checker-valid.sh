#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# Put beside a kernel's build scripts when its headers package lacks it: prints 1 when the checker
# named can parse what the kernel's headers need of it.
echo '__typeof_unqual__((const int)0) probe;' | "$@" -x c - >/dev/null 2>&1 && echo 1 || echo 0
