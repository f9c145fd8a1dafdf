// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The kernel changes its own code while it runs (jump labels, probes, tracing) and says so:
 * PERF_RECORD_TEXT_POKE has the bytes before and after. The recording's copy of the code is that of
 * its end, so that changes are undone back to the time that is being decoded.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "owner.h"

struct poke_body {
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[];	/* old ones, then new ones */
};

int owner_add_poke(struct rvt_owner *owner, const struct rvt_perfdata_record *record)
{
	const struct poke_body *body = (const void *)(record->header + 1);
	struct owner_event event = { .type = OWNER_POKE, .pid = -1, .tid = -1,
		.time = record->time_valid ? record->time : 0 };
	uint8_t *copy;

	if (record->body_len < offsetof(struct poke_body, bytes) ||
	    record->body_len - offsetof(struct poke_body, bytes) <
	    (size_t)body->old_len + body->new_len)
		return 0;
	copy = malloc(body->old_len + body->new_len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, body->bytes, body->old_len + body->new_len);
	event.poke.addr = body->addr;
	event.poke.old_len = body->old_len;
	event.poke.new_len = body->new_len;
	event.poke.bytes = copy;
	if (owner_add_event(owner, &event, NULL)) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

/* Sorted events: the list of those that change code. */
int owner_list_pokes(struct rvt_owner *owner)
{
	for (size_t i = 0; i < owner->n_events; i++) {
		const struct owner_event **grown;

		if (owner->events[i].type != OWNER_POKE)
			continue;
		grown = reallocarray(owner->pokes, owner->n_pokes + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		owner->pokes = grown;
		grown[owner->n_pokes++] = &owner->events[i];
	}
	return 0;
}

static int put(struct rvt_space *kernel, uint64_t addr, const uint8_t *bytes, size_t len)
{
	struct rvt_location location;

	/* code that was made or removed is not among what was copied */
	if (!len || rvt_space_locate(kernel, addr, &location) || !location.path)
		return 0;
	return rvt_space_map_bytes(kernel, addr, bytes, len, location.path);
}

int owner_poke_to(const struct rvt_owner *owner, struct rvt_space *kernel, size_t *done, size_t n)
{
	int err = 0;

	for (; !err && *done > n; --*done) {
		const struct owner_event *event = owner->pokes[*done - 1];

		err = put(kernel, event->poke.addr, event->poke.bytes, event->poke.old_len);
	}
	for (; !err && *done < n; ++*done) {
		const struct owner_event *event = owner->pokes[*done];

		err = put(kernel, event->poke.addr, event->poke.bytes + event->poke.old_len,
			  event->poke.new_len);
	}
	return err;
}
