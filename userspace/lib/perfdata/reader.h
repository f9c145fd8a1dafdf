/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between reader.c (the file) and records.c (what is in its data section). */
#ifndef PERFDATA_READER_H
#define PERFDATA_READER_H

#include "format.h"

struct id_entry {
	uint64_t id;
	const struct rvt_perfdata_event *event;
};

struct named_build_id {
	const char *name;
	const uint8_t *id;
	size_t len;
};

struct rvt_perfdata {
	struct rvt_mapped_file *mapped;
	char *path;
	char *warning;
	unsigned int n_warnings;
	uint64_t released;	/* in the file: what was read before this need not be in memory */
	uint64_t checked;	/* damage up to here, in the data, has been told of */
	const uint8_t *bytes;
	uint64_t size;
	struct perfdata_header header;
	struct rvt_perfdata_event *events;
	size_t n_events;
	struct id_entry *ids;
	size_t n_ids;
	struct named_build_id *build_ids;	/* by name, then as they come */
	size_t n_build_ids;
	bool same_type;		/* all events have the sample_type of the first */
	bool killed;		/* the header was never finished */
	struct perfdata_section features[RVT_FEAT_BITS];
	uint64_t bounce[(UINT16_MAX + 1) / 8];	/* a record that is not aligned in the file */
};

/* Adds a sentence to what rvt_perfdata_warning() says. */
__attribute__((format(printf, 2, 3)))
void rvt_perfdata_warn(struct rvt_perfdata *file, const char *format, ...);
/* rvt_perfdata_code(); *@missing: how many files it refers to are not there. */
int rvt_perfdata_all_code(struct rvt_perfdata *file, struct rvt_code_store **store,
			  unsigned int *missing);
/* For bsearch() in .ids. */
int rvt_perfdata_compare_ids(const void *a, const void *b);

#endif
