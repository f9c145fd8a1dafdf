/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside the library: files whose code is not at hand, each once. */
#ifndef SIDEBAND_MISSING_H
#define SIDEBAND_MISSING_H

#include <rvtrace/sideband.h>

/* All zeros: an empty list. */
struct missing_list {
	struct rvt_missing *files;
	size_t n;
	void *paths;		/* tsearch() of the strings in .files */
};

/* @path is copied; nothing happens when it is there. 0 or -ENOMEM. */
int rvt_missing_add(struct missing_list *list, const char *path, int error);
/* NULL: there are not so many. */
const struct rvt_missing *rvt_missing_at(const struct missing_list *list, size_t n);
void rvt_missing_free(struct missing_list *list);

#endif
