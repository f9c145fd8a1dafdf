/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the library: what compressed feature sections have in common.
 */
#ifndef RVT_LIB_PERFDATA_PACKED_H
#define RVT_LIB_PERFDATA_PACKED_H

/* What a section may unpack to: protects from a frame that lies about its size. */
#define RVT_MAX_UNPACKED (2ULL << 30)

#endif
