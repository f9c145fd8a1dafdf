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
#include "events.h"

/* ---- from records ---- */

struct poke_body {
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[];	/* old ones, then new ones */
};

static int add_change(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record,
		      struct sideband_event *event, const uint8_t *bytes, const char *name)
{
	size_t len = (size_t)event->change.old_len + event->change.new_len;
	uint8_t *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, len);
	event->type = SIDEBAND_CHANGE;
	event->pid = event->tid = -1;
	event->time = record->time_valid ? record->time : 0;
	event->change.bytes = copy;
	if (rvt_sideband_add_event(sideband, event, name)) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

int rvt_sideband_add_poke(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	const struct poke_body *body = (const void *)(record->header + 1);
	struct sideband_event event = { 0 };

	if (record->body_len < offsetof(struct poke_body, bytes) ||
	    record->body_len - offsetof(struct poke_body, bytes) <
	    (size_t)body->old_len + body->new_len)
		return 0;
	event.change.addr = body->addr;
	event.change.old_len = body->old_len;
	event.change.new_len = body->new_len;
	return add_change(sideband, record, &event, body->bytes, NULL);
}

int rvt_sideband_add_code(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	struct sideband_event event = { 0 };
	struct rvt_kernel_code code;
	char name[2 * RVT_KERNEL_CODE_NAME + 3];

	if (!record->raw || record->raw_len < sizeof(code))
		return -EBADMSG;
	memcpy(&code, record->raw, sizeof(code));
	code.module[RVT_KERNEL_CODE_NAME - 1] = code.function[RVT_KERNEL_CODE_NAME - 1] = 0;
	snprintf(name, sizeof(name), "[%s]%s", code.module, code.function);
	event.change.addr = code.addr;
	event.change.named_len = code.kind == RVT_KERNEL_CODE_FUNCTION ? code.len : 0;
	event.change.old_len = code.kind == RVT_KERNEL_CODE_GOES ||
		code.kind == RVT_KERNEL_CODE_CHANGES ? code.len : 0;
	event.change.new_len = code.kind == RVT_KERNEL_CODE_COMES ||
		code.kind == RVT_KERNEL_CODE_CHANGES ? code.len : 0;
	if ((uint64_t)event.change.old_len + event.change.new_len > record->raw_len - sizeof(code))
		return -EBADMSG;
	return add_change(sideband, record, &event, record->raw + sizeof(code),
			  code.kind == RVT_KERNEL_CODE_CHANGES ? NULL : name);
}

/* ---- the list ---- */

/* A copy of its own: events are forgotten when all cursors are past them. */
static int list(struct rvt_sideband *sideband, const struct sideband_event *event)
{
	struct sideband_event *copy = malloc(sizeof(*copy));

	if (!copy || array_grow(&sideband->changes, sideband->n_changes)) {
		free(copy);
		return -ENOMEM;
	}
	*copy = *event;
	sideband->changes[sideband->n_changes++] = copy;
	return 0;
}

static bool comes(const struct sideband_event *event)
{
	return event->name && !event->change.old_len && event->change.new_len;
}

static bool goes(const struct sideband_event *event)
{
	return event->name && event->change.old_len && !event->change.new_len;
}

static bool overlap(const struct sideband_event *a, const struct sideband_event *b)
{
	return a->change.addr < b->change.addr + b->change.old_len + b->change.new_len &&
		b->change.addr < a->change.addr + a->change.old_len + a->change.new_len;
}

/*
 * The end of a module's initialisation code, for one, is not told: it ends where other code takes
 * its place.
 */
static int end_live(struct rvt_sideband *sideband, const struct sideband_event *event)
{
	size_t n = sideband->n_live;
	int err = 0;

	sideband->n_live = 0;
	for (size_t i = 0; i < n && !err; i++) {
		struct sideband_event end = *sideband->live[i];

		if (!overlap(sideband->live[i], event)) {
			sideband->live[sideband->n_live++] = sideband->live[i];
			continue;
		}
		if (goes(event))
			continue;
		end.change.old_len = end.change.new_len;
		end.change.new_len = 0;
		end.change.made = true;
		err = list(sideband, &end);
	}
	return err;
}

/* What was listed last has come. */
static int add_live(struct rvt_sideband *sideband)
{
	if (array_grow(&sideband->live, sideband->n_live))
		return -ENOMEM;
	sideband->live[sideband->n_live++] = sideband->changes[sideband->n_changes - 1];
	return 0;
}

static int list_change(struct rvt_sideband *sideband, struct sideband_event *event)
{
	int err = comes(event) || goes(event) ? end_live(sideband, event) : 0;

	if (!err)
		err = list(sideband, event);
	if (err)
		return err;
	event->change.listed = sideband->n_changes;
	return comes(event) ? add_live(sideband) : 0;
}

int rvt_sideband_list_changes(struct rvt_sideband *sideband, size_t from, size_t to)
{
	int err = 0;

	for (size_t i = from; i < to && !err; i++)
		if (sideband_event(sideband, i)->type == SIDEBAND_CHANGE)
			err = list_change(sideband, sideband_event(sideband, i));
	return err;
}

void rvt_sideband_free_changes(struct rvt_sideband *sideband)
{
	for (size_t i = 0; i < sideband->n_changes; i++) {
		if (!sideband->changes[i]->change.made)
			free((void *)sideband->changes[i]->change.bytes);
		free((void *)sideband->changes[i]);
	}
	for (size_t i = sideband->first; i < sideband->n_events; i++) {
		const struct sideband_event *event = sideband_event(sideband, i);

		if (event->type == SIDEBAND_CHANGE && !event->change.listed)
			free((void *)event->change.bytes);
	}
	free(sideband->changes);
	free(sideband->live);
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
static int put(struct rvt_space *kernel, const struct sideband_event *event, const uint8_t *bytes,
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

static int redo(struct rvt_space *kernel, const struct sideband_event *event)
{
	return put(kernel, event, event->change.bytes + event->change.old_len,
		   event->change.new_len, event->change.old_len);
}

static int undo(struct rvt_space *kernel, const struct sideband_event *event)
{
	return put(kernel, event, event->change.bytes, event->change.old_len,
		   event->change.new_len);
}

/*
 * Where the end of code was not told, what is known is how it was when it came: what has been done
 * to it before the @n-th change, its end, is done again.
 */
static int redo_within(const struct rvt_sideband *sideband, struct rvt_space *kernel, size_t n)
{
	const struct sideband_event *end = sideband->changes[n];
	size_t first = n;
	int err = 0;

	while (first && sideband->changes[first - 1]->change.bytes != end->change.bytes)
		first--;
	for (size_t i = first; i < n && !err; i++) {
		const struct sideband_event *event = sideband->changes[i];

		if (event->change.addr >= end->change.addr &&
		    event->change.addr - end->change.addr < end->change.old_len)
			err = redo(kernel, event);
	}
	return err;
}

int rvt_sideband_change_to(const struct rvt_sideband *sideband, struct rvt_space *kernel,
			   size_t *done, size_t n)
{
	int err = 0;

	for (; !err && *done > n; --*done) {
		const struct sideband_event *event = sideband->changes[*done - 1];

		err = undo(kernel, event);
		if (!err && event->change.made)
			err = redo_within(sideband, kernel, *done - 1);
	}
	for (; !err && *done < n; ++*done)
		err = redo(kernel, sideband->changes[*done]);
	return err;
}

struct sideband_kernel *rvt_sideband_find_kernel(const struct rvt_sideband *sideband,
						 const struct rvt_space *space)
{
	struct sideband_kernel *kernel = sideband->kernels;

	while (kernel && kernel->space != space)
		kernel = kernel->next;
	return kernel;
}

int rvt_sideband_rewind(struct rvt_sideband *sideband, struct rvt_space *space)
{
	struct sideband_kernel *kernel = rvt_sideband_find_kernel(sideband, space);

	if (!kernel) {
		kernel = calloc(1, sizeof(*kernel));
		if (!kernel)
			return -ENOMEM;
		kernel->space = space;
		kernel->next = sideband->kernels;
		sideband->kernels = kernel;
	}
	kernel->changed = sideband->n_changes;
	return rvt_sideband_change_to(sideband, space, &kernel->changed, 0);
}
