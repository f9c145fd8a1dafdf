// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "missing.h"

static int compare_paths(const void *a, const void *b)
{
	return strcmp(a, b);
}

int rvt_missing_add(struct missing_list *list, const char *path, int error)
{
	char *copy;

	if (tfind(path, &list->paths, compare_paths))
		return 0;
	copy = strdup(path);
	if (!copy || array_grow(&list->files, list->n) ||
	    !tsearch(copy, &list->paths, compare_paths)) {
		free(copy);
		return -ENOMEM;
	}
	list->files[list->n++] = (struct rvt_missing){ copy, error };
	return 0;
}

const struct rvt_missing *rvt_missing_at(const struct missing_list *list, size_t n)
{
	return n < list->n ? &list->files[n] : NULL;
}

void rvt_missing_free(struct missing_list *list)
{
	tdestroy(list->paths, free);
	free(list->files);
	*list = (struct missing_list){ 0 };
}
