/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The parts of perf.data that reader and writer share. */
#ifndef PERFDATA_FORMAT_H
#define PERFDATA_FORMAT_H

#include <rvtrace/perfdata.h>

#define PERFDATA_MAGIC 0x32454c4946524550ULL	/* "PERFILE2" */
#define PERFDATA_MAGIC_OLD 0x454c494646524550ULL /* "PERFFILE", before 2009's end */
#define PERFDATA_PIPE_HEADER_SIZE 16
#define PERFDATA_NAME_ALIGN 64
#define PERFDATA_META_MAGIC "rvtrace "
#define PERFDATA_MISC_BUILD_ID_SIZE (1u << 15)

struct perfdata_section {
	uint64_t offset;
	uint64_t size;
};

struct perfdata_header {
	uint64_t magic;
	uint64_t size;		/* of this struct */
	uint64_t attr_size;	/* of one entry of .attrs */
	struct perfdata_section attrs;	/* {perf_event_attr, section of ids} */
	struct perfdata_section data;
	/* perf has not used these since 2013: our own sections, see struct perfdata_own */
	struct perfdata_section event_types;
	uint64_t features[RVT_FEAT_BITS / 64];
};

/*
 * Sections that perf does not know, from RVT_FEAT_RVTRACE_META on: .event_types is a list of these,
 * behind PERFDATA_OWN_MAGIC. Bits of the header cannot name them: `perf inject` calls what lies
 * behind its table of features for each bit that it does not know. Files of earlier versions have
 * such bits.
 */
#define PERFDATA_OWN_MAGIC 0x3165636172747672ULL	/* "rvtrace1" */

struct perfdata_own {
	uint64_t bit;
	struct perfdata_section section;
};

/* Entry of the BUILD_ID feature; the file name follows. */
struct perfdata_build_id {
	struct perf_event_header header;
	int32_t pid;
	uint8_t id[20];
	uint8_t id_len;
	uint8_t reserved[3];
};

#endif
