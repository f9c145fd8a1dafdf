// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/names.h"

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *names_keep(void **names, const char *name)
{
	char **found = tfind(name, names, compare), *copy;

	if (found)
		return *found;
	copy = strdup(name);
	if (copy && !tsearch(copy, names, compare)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}
