// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sideband as it is stored. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "sideband.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static const char *intern(struct rvt_owner *owner, const char *name)
{
	char *copy = strdup(name), **found;

	if (!copy)
		return NULL;
	found = tsearch(copy, &owner->names, compare_names);
	if (!found || *found != copy)
		free(copy);
	return found ? *found : NULL;
}

int owner_add_event(struct rvt_owner *owner, const struct owner_event *event, const char *name)
{
	struct owner_event *copy;

	if (array_grow(&owner->events, owner->n_events - owner->first))
		return -ENOMEM;
	copy = owner_event(owner, owner->n_events);
	*copy = *event;
	copy->name = name ? intern(owner, name) : NULL;
	if (name && !copy->name)
		return -ENOMEM;
	copy->order = owner->n_events++;
	return 0;
}

int owner_add_record(struct rvt_owner *owner, const struct rvt_perfdata_record *record,
		     struct owner_event *event, const char *name)
{
	event->time = record->time_valid ? record->time : 0;
	return owner_add_event(owner, event, name);
}
