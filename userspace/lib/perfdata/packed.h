/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the library: what compressed feature sections have in common.
 */
#ifndef RVT_LIB_PERFDATA_PACKED_H
#define RVT_LIB_PERFDATA_PACKED_H

#include <stddef.h>
#include <stdint.h>
#include <rvtrace/perfdata.h>

#define RVT_HUGE_PAGE (2ul << 20)
/* What a section may unpack to: protects from a frame that lies about its size. */
#define RVT_MAX_UNPACKED (2ULL << 30)

/* Lengths in sections and of packed AUX data are padded to this. */
static inline uint64_t rvt_pad(uint64_t len)
{
	return (len + 7) & ~7ULL;
}

/*
 * One more entry of @store, whose name (malloc'd) and bytes it owns from now on; all of the bytes
 * are in @mapped. 0 or -ENOMEM.
 */
struct rvt_mapped_file;
int rvt_code_add(struct rvt_code_store *store, const struct rvt_code *code,
		 struct rvt_mapped_file *mapped);

#endif
