/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Passes messages from one component to the next, and off the chip. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "model.h"

int part_pass(struct component *c, const uint8_t *bytes, size_t len)
{
	bool taken = false;

	for (unsigned int i = 0; i < c->n_outs; i++) {
		if (!c->out[i]->enabled)
			continue;
		if (c->out[i]->ops->accept(c->out[i], c, bytes, len))
			return -ENOSPC;
		taken = true;
	}
	return taken ? 0 : -ENOSPC;
}

bool part_has_room(const struct component *c)
{
	bool room = !c->n_outs;

	if (c->type != PART_ENCODER && (!c->enabled || c->stopped))
		return false;
	for (unsigned int i = 0; i < c->n_outs; i++)
		room |= part_has_room(c->out[i]);
	return room;
}

void capture(struct component *c, const uint8_t *bytes, size_t len)
{
	char path[4096];

	if (!model.args.capture_dir)
		return;
	if (!c->capture) {
		snprintf(path, sizeof(path), "%s/%s.%u", model.args.capture_dir, c->ops->name,
			 c->index);
		c->capture = fopen(path, "wb");
		if (!c->capture) {
			fprintf(stderr, "rvtrace-model: cannot write %s\n", path);
			exit(1);
		}
	}
	fwrite(bytes, 1, len, c->capture);
	fflush(c->capture);
}
