/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names of C++ functions as people wrote them. */
#ifndef PERF_RVTRACE_DEMANGLE_H
#define PERF_RVTRACE_DEMANGLE_H

/* Malloc'd; NULL: @name is not a C++ compiler's, or this machine has no C++ run-time library. */
char *demangle(const char *name);

#endif
