// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code of programs that is in no file: the recorder copies it when it is mapped, when a program
 * says that it has written some (the riscv_flush_icache system call), and what nobody could read
 * then, at its end.
 */
#include <errno.h>
#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/user-code.h>
#include "util/array.h"
#include "events.h"

/* Of one event or several. */
struct copied_bytes {
	size_t refs;
	uint8_t bytes[];
};

/* The last whole page that came at an address of a process. */
struct copied_page {
	int32_t pid;
	uint64_t addr;
	struct copied_bytes *bytes;
};

static struct copied_bytes *bytes_of(const uint8_t *bytes)
{
	return (struct copied_bytes *)(bytes - offsetof(struct copied_bytes, bytes));
}

static void put_bytes(struct copied_bytes *bytes)
{
	if (bytes && !--bytes->refs)
		free(bytes);
}

static struct copied_bytes *make_bytes(const uint8_t *from, size_t len)
{
	struct copied_bytes *bytes = malloc(sizeof(*bytes) + len);

	if (bytes) {
		bytes->refs = 1;
		memcpy(bytes->bytes, from, len);
	}
	return bytes;
}

int rvt_sideband_add_copy(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	struct sideband_event event = { .type = SIDEBAND_COPY };
	struct copied_bytes *bytes = NULL;
	struct rvt_user_code code;
	int err;

	if (!record->raw || record->raw_len < sizeof(code))
		return -EBADMSG;
	memcpy(&code, record->raw, sizeof(code));
	if (code.kind < RVT_USER_CODE_COMES || code.kind > RVT_USER_CODE_STAYED || !code.len ||
	    code.len > RVT_USER_CODE_MAX || code.addr + code.len < code.addr || code.pid < 0)
		return -EBADMSG;
	if (code.kind != RVT_USER_CODE_SAME) {
		if (code.len > record->raw_len - sizeof(code))
			return -EBADMSG;
		bytes = make_bytes(record->raw + sizeof(code), code.len);
		if (!bytes)
			return -ENOMEM;
		event.copy.bytes = bytes->bytes;
	}
	event.pid = event.tid = code.pid;
	event.copy.addr = code.addr;
	event.copy.len = code.len;
	event.copy.stayed = code.kind == RVT_USER_CODE_STAYED;
	event.copy.maps = code.flags & RVT_USER_CODE_MAPS;
	err = rvt_sideband_add_record_event(sideband, record, &event, NULL);
	if (err)
		put_bytes(bytes);
	return err;
}

/* ---- in the order of time: what is the same as before ---- */

static int compare_pages(const void *a, const void *b)
{
	const struct copied_page *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int share(struct rvt_sideband *sideband, struct sideband_event *event)
{
	struct copied_page key = { event->pid, event->copy.addr, NULL }, *page, **found;

	found = tsearch(&key, &sideband->pages, compare_pages);
	if (!found)
		return -ENOMEM;
	if (*found == &key) {
		*found = page = malloc(sizeof(*page));
		if (!page) {
			tdelete(&key, &sideband->pages, compare_pages);
			return -ENOMEM;
		}
		*page = key;
	}
	page = *found;
	if (!event->copy.bytes) {
		event->copy.bytes = page->bytes ? page->bytes->bytes : NULL;
	} else {
		put_bytes(page->bytes);
		page->bytes = bytes_of(event->copy.bytes);
	}
	if (page->bytes)
		page->bytes->refs++;
	return 0;
}

int rvt_sideband_share_copies(struct rvt_sideband *sideband, size_t from, size_t to)
{
	int err = 0;

	for (size_t i = from; i < to && !err; i++) {
		struct sideband_event *event = sideband_event(sideband, i);

		if (event->type == SIDEBAND_COPY && event->copy.len == RVT_USER_CODE_MAX &&
		    !event->copy.stayed)
			err = share(sideband, event);
	}
	return err;
}

static void free_page(void *entry)
{
	struct copied_page *page = entry;

	put_bytes(page->bytes);
	free(page);
}

/* ---- before they are in order: what stayed until its end ---- */

static bool is_mapped_by(const struct sideband_event *copy, const struct sideband_event *event)
{
	return event->type == SIDEBAND_MMAP && event->pid == copy->pid &&
	       copy->copy.addr >= event->map.addr &&
	       copy->copy.addr - event->map.addr < event->map.len;
}

/* The code of a child is that of its parent, but for what it maps itself. */
static bool is_forked_by(const struct sideband_event *copy, const struct sideband_event *event)
{
	return event->type == SIDEBAND_FORK && event->pid == copy->pid &&
	       event->parent.pid != event->pid;
}

/* @origins: what maps and forks. */
static void set_time(struct sideband_event *copy, const struct sideband_event *const *origins,
		     size_t n)
{
	const struct sideband_event *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct sideband_event *event = origins[i];

		if (copy->copy.maps) {
			if (is_mapped_by(copy, event) && event->time >= copy->time &&
			    (!found || found->time > event->time))
				found = event;
		} else if ((is_mapped_by(copy, event) || is_forked_by(copy, event)) &&
			   event->time <= copy->time && (!found || found->time <= event->time)) {
			found = event;
		}
	}
	/* the next nanosecond, not the same: in the file it may stand before the mapping */
	if (found && (copy->copy.maps || found->time < copy->time))
		copy->time = found->time + 1;
	if (found)
		copy->copy.maps = false;
}

static bool needs_time(const struct sideband_event *event)
{
	return event->type == SIDEBAND_COPY && (event->copy.stayed || event->copy.maps);
}

int rvt_sideband_time_copies(struct rvt_sideband *sideband, size_t from)
{
	const struct sideband_event **origins = NULL;
	size_t n = 0, n_untimed = 0;

	for (size_t i = from; i < sideband->n_events; i++)
		n_untimed += needs_time(sideband_event(sideband, i));
	for (size_t i = from; n_untimed && i < sideband->n_events; i++) {
		const struct sideband_event *event = sideband_event(sideband, i);

		if (event->type != SIDEBAND_MMAP && event->type != SIDEBAND_FORK)
			continue;
		if (array_grow(&origins, n)) {
			free(origins);
			return -ENOMEM;
		}
		origins[n++] = event;
	}
	for (size_t i = from; n_untimed && i < sideband->n_events; i++) {
		struct sideband_event *event = sideband_event(sideband, i);

		if (needs_time(event))
			set_time(event, origins, n);
	}
	free(origins);
	return 0;
}

void rvt_sideband_forget_copies(struct rvt_sideband *sideband, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct sideband_event *event = sideband_event(sideband, i);

		if (event->type == SIDEBAND_COPY && event->copy.bytes)
			put_bytes(bytes_of(event->copy.bytes));
	}
}

void rvt_sideband_free_copies(struct rvt_sideband *sideband)
{
	rvt_sideband_forget_copies(sideband, sideband->first, sideband->n_events);
	tdestroy(sideband->pages, free_page);
}
