/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Which librvtrace a program was compiled for, and which it runs with. Any thread may call. */
#ifndef RVTRACE_VERSION_H
#define RVTRACE_VERSION_H

#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

#define RVT_VERSION_MAJOR 0
#define RVT_VERSION_MINOR 1
/* For #if: RVT_VERSION >= RVT_MAKE_VERSION(0, 1). */
#define RVT_MAKE_VERSION(major, minor) ((major) << 16 | (minor))
#define RVT_VERSION RVT_MAKE_VERSION(RVT_VERSION_MAJOR, RVT_VERSION_MINOR)

/* RVT_VERSION of the library that is running. */
unsigned int rvt_version(void);

RVT_END_DECLS

#endif
