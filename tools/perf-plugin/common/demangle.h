/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names of C++ functions as in the source. */
#ifndef PERF_RVTRACE_DEMANGLE_H
#define PERF_RVTRACE_DEMANGLE_H

/*
 * Returns the demangled name, malloc'd; NULL: @name is not a C++ compiler's, or this machine has no
 * C++ run-time library.
 */
char *demangle(const char *name);

#endif
