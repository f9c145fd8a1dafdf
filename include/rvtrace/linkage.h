/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Between these, declarations are those of C functions for C++ programs as well. Nothing here is
 * called: what a thread may do is said by each other header.
 */
#ifndef RVTRACE_LINKAGE_H
#define RVTRACE_LINKAGE_H

#ifdef __cplusplus
#define RVT_BEGIN_DECLS extern "C" {
#define RVT_END_DECLS }
#else
#define RVT_BEGIN_DECLS
#define RVT_END_DECLS
#endif

#endif
