// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sideband as it is stored. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "events.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static const char *intern(struct rvt_sideband *sideband, const char *name)
{
	char *copy = strdup(name), **found;

	if (!copy)
		return NULL;
	found = tsearch(copy, &sideband->names, compare_names);
	if (!found || *found != copy)
		free(copy);
	return found ? *found : NULL;
}

int rvt_sideband_add_event(struct rvt_sideband *sideband, const struct sideband_event *event,
			   const char *name)
{
	struct sideband_event *copy;

	if (array_grow(&sideband->events, sideband->n_events - sideband->first))
		return -ENOMEM;
	copy = sideband_event(sideband, sideband->n_events);
	*copy = *event;
	copy->name = name ? intern(sideband, name) : NULL;
	if (name && !copy->name)
		return -ENOMEM;
	copy->order = sideband->n_events++;
	return 0;
}

int rvt_sideband_add_record_event(struct rvt_sideband *sideband,
				  const struct rvt_perfdata_record *record,
				  struct sideband_event *event, const char *name)
{
	event->time = record->time_valid ? record->time : 0;
	return rvt_sideband_add_event(sideband, event, name);
}
