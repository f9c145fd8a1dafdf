// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The kernel changes its own code while it runs (jump labels, probes, tracing), loads some and
 * drops some. PERF_RECORD_TEXT_POKE and the samples of rvtrace/kernel-code.h have the bytes before
 * and after. The recording's copy of the code is that of its end, so that changes are undone back
 * to the time that is being decoded.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/kernel-code.h>
#include "util/array.h"
#include "sideband.h"

/* ---- from records ---- */

struct poke_body {
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[];	/* old ones, then new ones */
};

static int add_change(struct rvt_owner *owner, const struct rvt_perfdata_record *record,
		      struct owner_event *event, const uint8_t *bytes, const char *name)
{
	size_t len = (size_t)event->change.old_len + event->change.new_len;
	uint8_t *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, len);
	event->type = OWNER_CHANGE;
	event->pid = event->tid = -1;
	event->time = record->time_valid ? record->time : 0;
	event->change.bytes = copy;
	if (owner_add_event(owner, event, name)) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

int owner_add_poke(struct rvt_owner *owner, const struct rvt_perfdata_record *record)
{
	const struct poke_body *body = (const void *)(record->header + 1);
	struct owner_event event = { 0 };

	if (record->body_len < offsetof(struct poke_body, bytes) ||
	    record->body_len - offsetof(struct poke_body, bytes) <
	    (size_t)body->old_len + body->new_len)
		return 0;
	event.change.addr = body->addr;
	event.change.old_len = body->old_len;
	event.change.new_len = body->new_len;
	return add_change(owner, record, &event, body->bytes, NULL);
}

int owner_add_code(struct rvt_owner *owner, const struct rvt_perfdata_record *record)
{
	struct owner_event event = { 0 };
	struct rvt_kernel_code code;
	char name[2 * RVT_KERNEL_CODE_NAME + 3];

	if (!record->raw || record->raw_len < sizeof(code))
		return -EBADMSG;
	memcpy(&code, record->raw, sizeof(code));
	code.owner[RVT_KERNEL_CODE_NAME - 1] = code.function[RVT_KERNEL_CODE_NAME - 1] = 0;
	snprintf(name, sizeof(name), "[%s]%s", code.owner, code.function);
	event.change.addr = code.addr;
	event.change.named_len = code.kind == RVT_KERNEL_CODE_FUNCTION ? code.len : 0;
	event.change.old_len = code.kind == RVT_KERNEL_CODE_GOES ||
		code.kind == RVT_KERNEL_CODE_CHANGES ? code.len : 0;
	event.change.new_len = code.kind == RVT_KERNEL_CODE_COMES ||
		code.kind == RVT_KERNEL_CODE_CHANGES ? code.len : 0;
	if ((uint64_t)event.change.old_len + event.change.new_len > record->raw_len - sizeof(code))
		return -EBADMSG;
	return add_change(owner, record, &event, record->raw + sizeof(code),
			  code.kind == RVT_KERNEL_CODE_CHANGES ? NULL : name);
}

/* ---- the list ---- */

/* A copy of its own: events are forgotten when all cursors are past them. */
static int list(struct rvt_owner *owner, const struct owner_event *event)
{
	struct owner_event *copy = malloc(sizeof(*copy));

	if (!copy || array_grow(&owner->changes, owner->n_changes)) {
		free(copy);
		return -ENOMEM;
	}
	*copy = *event;
	owner->changes[owner->n_changes++] = copy;
	return 0;
}

static bool comes(const struct owner_event *event)
{
	return event->name && !event->change.old_len && event->change.new_len;
}

static bool goes(const struct owner_event *event)
{
	return event->name && event->change.old_len && !event->change.new_len;
}

static bool overlap(const struct owner_event *a, const struct owner_event *b)
{
	return a->change.addr < b->change.addr + b->change.old_len + b->change.new_len &&
		b->change.addr < a->change.addr + a->change.old_len + a->change.new_len;
}

/*
 * The end of a module's initialisation code, for one, is not told: it ends where other code takes
 * its place.
 */
static int end_live(struct rvt_owner *owner, const struct owner_event *event)
{
	size_t n = owner->n_live;
	int err = 0;

	owner->n_live = 0;
	for (size_t i = 0; i < n && !err; i++) {
		struct owner_event end = *owner->live[i];

		if (!overlap(owner->live[i], event)) {
			owner->live[owner->n_live++] = owner->live[i];
			continue;
		}
		if (goes(event))
			continue;
		end.change.old_len = end.change.new_len;
		end.change.new_len = 0;
		end.change.made = true;
		err = list(owner, &end);
	}
	return err;
}

/* What was listed last has come. */
static int add_live(struct rvt_owner *owner)
{
	if (array_grow(&owner->live, owner->n_live))
		return -ENOMEM;
	owner->live[owner->n_live++] = owner->changes[owner->n_changes - 1];
	return 0;
}

static int list_change(struct rvt_owner *owner, struct owner_event *event)
{
	int err = comes(event) || goes(event) ? end_live(owner, event) : 0;

	if (!err)
		err = list(owner, event);
	if (err)
		return err;
	event->change.listed = owner->n_changes;
	return comes(event) ? add_live(owner) : 0;
}

int owner_list_changes(struct rvt_owner *owner, size_t from, size_t to)
{
	int err = 0;

	for (size_t i = from; i < to && !err; i++)
		if (owner_event(owner, i)->type == OWNER_CHANGE)
			err = list_change(owner, owner_event(owner, i));
	return err;
}

void owner_free_changes(struct rvt_owner *owner)
{
	for (size_t i = 0; i < owner->n_changes; i++) {
		if (!owner->changes[i]->change.made)
			free((void *)owner->changes[i]->change.bytes);
		free((void *)owner->changes[i]);
	}
	for (size_t i = owner->first; i < owner->n_events; i++) {
		const struct owner_event *event = owner_event(owner, i);

		if (event->type == OWNER_CHANGE && !event->change.listed)
			free((void *)event->change.bytes);
	}
	free(owner->changes);
	free(owner->live);
}

/* ---- in the kernel's space ---- */

/* The @len bytes at @addr that are mapped already get the name of their function. */
static int name_function(struct rvt_space *kernel, uint64_t addr, size_t len, const char *name)
{
	uint8_t *copy = malloc(len + 1);
	size_t done = 0, got = 1;
	const uint8_t *bytes;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	for (; done < len && got; done += got) {
		got = rvt_space_find(kernel, addr + done, &bytes);
		if (got > len - done)
			got = len - done;
		if (got)
			memcpy(copy + done, bytes, got);
	}
	if (done == len)
		err = rvt_space_map_bytes(kernel, addr, copy, len, name);
	free(copy);
	return err;
}

/* Whether a mapping's name is that of one function: what is in it is placed from its start. */
static bool is_function(const char *name)
{
	const char *end = name[0] == '[' ? strchr(name, ']') : NULL;

	return end && end[1];
}

/* @len bytes at @addr change in the mapping that @location tells of. */
static int change(struct rvt_space *kernel, const struct rvt_location *location, uint64_t addr,
		  const uint8_t *bytes, size_t len)
{
	const uint8_t *old;
	size_t offset = addr - location->map_start, whole;
	uint8_t *copy;
	int err;

	if (!is_function(location->path))
		return rvt_space_map_bytes(kernel, addr, bytes, len, location->path);
	whole = rvt_space_find(kernel, location->map_start, &old);
	if (whole < offset + len)
		return 0;
	copy = malloc(whole);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, old, whole);
	memcpy(copy + offset, bytes, len);
	err = rvt_space_map_bytes(kernel, location->map_start, copy, whole, location->path);
	free(copy);
	return err;
}

/* @len bytes take the place of @gone_len. */
static int put(struct rvt_space *kernel, const struct owner_event *event, const uint8_t *bytes,
	       size_t len, size_t gone_len)
{
	const char *name = event->name;
	struct rvt_location location;

	if (event->change.named_len)
		return name_function(kernel, event->change.addr, event->change.named_len, name);
	if (!len) {
		if (name && gone_len)
			rvt_space_unmap(kernel, event->change.addr, gone_len);
		return 0;
	}
	if (name)
		return rvt_space_map_bytes(kernel, event->change.addr, bytes, len, name);
	/* code that was made or removed is not among what was copied */
	if (rvt_space_locate(kernel, event->change.addr, &location) || !location.path)
		return 0;
	return change(kernel, &location, event->change.addr, bytes, len);
}

static int redo(struct rvt_space *kernel, const struct owner_event *event)
{
	return put(kernel, event, event->change.bytes + event->change.old_len,
		   event->change.new_len, event->change.old_len);
}

static int undo(struct rvt_space *kernel, const struct owner_event *event)
{
	return put(kernel, event, event->change.bytes, event->change.old_len,
		   event->change.new_len);
}

/*
 * Where the end of code was not told, what is known is how it was when it came: what has been done
 * to it before the @n-th change, its end, is done again.
 */
static int redo_within(const struct rvt_owner *owner, struct rvt_space *kernel, size_t n)
{
	const struct owner_event *end = owner->changes[n];
	size_t first = n;
	int err = 0;

	while (first && owner->changes[first - 1]->change.bytes != end->change.bytes)
		first--;
	for (size_t i = first; i < n && !err; i++) {
		const struct owner_event *event = owner->changes[i];

		if (event->change.addr >= end->change.addr &&
		    event->change.addr - end->change.addr < end->change.old_len)
			err = redo(kernel, event);
	}
	return err;
}

int owner_change_to(const struct rvt_owner *owner, struct rvt_space *kernel, size_t *done, size_t n)
{
	int err = 0;

	for (; !err && *done > n; --*done) {
		const struct owner_event *event = owner->changes[*done - 1];

		err = undo(kernel, event);
		if (!err && event->change.made)
			err = redo_within(owner, kernel, *done - 1);
	}
	for (; !err && *done < n; ++*done)
		err = redo(kernel, owner->changes[*done]);
	return err;
}

struct owner_kernel *owner_find_kernel(const struct rvt_owner *owner, const struct rvt_space *space)
{
	struct owner_kernel *kernel = owner->kernels;

	while (kernel && kernel->space != space)
		kernel = kernel->next;
	return kernel;
}

int rvt_owner_rewind(struct rvt_owner *owner, struct rvt_space *space)
{
	struct owner_kernel *kernel = owner_find_kernel(owner, space);

	if (!kernel) {
		kernel = calloc(1, sizeof(*kernel));
		if (!kernel)
			return -ENOMEM;
		kernel->space = space;
		kernel->next = owner->kernels;
		owner->kernels = kernel;
	}
	kernel->changed = owner->n_changes;
	return owner_change_to(owner, space, &kernel->changed, 0);
}
